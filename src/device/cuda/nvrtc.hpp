#pragma once

#include "device/cuda/kernel_resources.hpp"
#include "device/cuda/nvrtc_table.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cairn::device::cuda {

/// Machine code that NVRTC has compiled.
struct CompiledText {
    std::vector<std::byte> cubin;          ///< an image for DriverTable::module_load
    std::string log;                       ///< warnings, and what the assembler reports
    std::vector<KernelResources> kernels;  ///< of the log
};

/// Version of NVRTC.
struct NvrtcVersion {
    int major = 0, minor = 0;
};

/// The compiler of device code, opened when it is first used. Needs neither a driver nor a device. Thread-safe: several
/// threads may compile at once. During a part of a compilation, NVRTC 13.0 has handlers of its own for SIGINT, SIGTERM
/// and SIGXFSZ; it restores those of the host program.
class Nvrtc {
public:
    /// Opens nothing yet.
    explicit Nvrtc(LibraryFolders folders);
    /// Uses these functions, such as those of a test.
    explicit Nvrtc(std::shared_ptr<const NvrtcTable> nvrtc);

    /// Compiles a text in CUDA C++. `name` stands for the file in messages, `architecture` is that of machine code,
    /// such as `sm_90a`; options are those of NVRTC, such as `--std=c++17`. The cache of NVRTC is not used: it writes
    /// to the user's home folder, and what comes out of it has no log. Throws Error(unsupported) with the log if the
    /// text does not compile, or with the reason if NVRTC cannot be opened.
    CompiledText compile(const std::string& text, const std::string& name, const std::string& architecture,
                         std::span<const std::string> options = {});
    /// All options with which compile() calls NVRTC.
    static std::vector<std::string> options_of(const std::string& architecture, std::span<const std::string> options);

    /// Throws Error(unsupported) with the reason if NVRTC cannot be opened.
    NvrtcVersion version();
    /// The version if NVRTC has been opened; empty if not. Opens nothing.
    std::optional<NvrtcVersion> version_if_open();
    /// The file that it was opened from; empty if unknown. Throws as version().
    std::string path();

private:
    std::shared_ptr<const NvrtcTable> table();

    LibraryFolders folders_;
    std::mutex opening_;
    std::shared_ptr<const NvrtcTable> nvrtc_;  ///< null: not opened, or not found so far
};

}  // namespace cairn::device::cuda
