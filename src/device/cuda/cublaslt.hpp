#pragma once

#include "device/cuda/cublaslt_table.hpp"

#include <memory>
#include <mutex>
#include <string>

namespace cairn::device::cuda {

/// cuBLASLt, opened when it is first used; a library that was not found is not searched again. Thread-safe.
class Cublaslt {
public:
    /// Opens nothing yet.
    explicit Cublaslt(LibraryFolders folders);
    /// Uses these functions, such as those of a test.
    explicit Cublaslt(std::shared_ptr<const CublasltTable> cublaslt);

    /// Throws Error(unsupported) with the reason if it cannot be opened.
    const CublasltTable& table();
    /// Version, such as `13.1.0`, and the file that it was opened from. Throw as table().
    std::string version();
    std::string path();

private:
    LibraryFolders folders_;
    std::mutex opening_;
    bool was_opened_ = false;
    OpenedCublaslt opened_;
};

}  // namespace cairn::device::cuda
