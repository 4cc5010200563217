#pragma once

#include <filesystem>

namespace cairn::cli {

/// A folder of its own for what is tried before it is done, removed with all in it at the end.
class ScratchFolder {
public:
    /// Throws Error(file) where none can be made.
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace cairn::cli
