#pragma once

#include <filesystem>

namespace cairn::autotune {

/// Advisory lock on a folder, held while a database file is created in it or renamed, so that no other process does so
/// at the same time. Not held if the system has no such locks, or after two seconds of waiting.
class FolderLock {
public:
    explicit FolderLock(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

    /// True if the wait timed out: another process holds the lock.
    bool is_taken() const noexcept { return is_taken_; }

private:
    int folder_ = -1;
    bool is_taken_ = false;
};

}  // namespace cairn::autotune
