#pragma once

#include <filesystem>

namespace cairn::autotune {

/// Held by whoever makes a file in a folder, or moves one out of the way, so that nobody else does so meanwhile. Held
/// by nobody where the system knows no such locks, or after two seconds of waiting.
class FolderLock {
public:
    explicit FolderLock(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

    /// True where the wait was in vain: somebody else holds it.
    bool is_taken() const noexcept { return is_taken_; }

private:
    int folder_ = -1;
    bool is_taken_ = false;
};

}  // namespace cairn::autotune
