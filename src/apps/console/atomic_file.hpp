#pragma once

#include <filesystem>
#include <string>

namespace cairn::console {

/// A file that appears only when it is complete: it is written under a temporary name in the same folder and renamed by
/// commit(). Without commit() it is removed.
class AtomicFile {
public:
    /// Throws Error(file) if the path cannot be written, or if a file exists there, unless it is a regular file and
    /// `may_replace`.
    AtomicFile(const std::string& path, bool may_replace);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// Path to write to; initially an empty file.
    const std::filesystem::path& temporary_path() const noexcept { return temporary_path_; }
    /// Throws Error(file).
    void commit();

private:
    std::filesystem::path path_, temporary_path_;
};

}  // namespace cairn::console
