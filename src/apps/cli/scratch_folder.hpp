#pragma once

#include <filesystem>

namespace cairn::cli {

/// A temporary folder for trial work, removed with its contents at the end.
class ScratchFolder {
public:
    /// Throws Error(file) if it cannot be created.
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace cairn::cli
