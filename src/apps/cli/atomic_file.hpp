#pragma once

#include <filesystem>
#include <string>

namespace cairn::cli {

/// A file that is there when it is whole: it is written under another name beside its place, and moved there by keep().
/// What is not kept is removed.
class AtomicFile {
public:
    /// Throws Error(file) where a file of that path could not be written, and where there is one already, unless it is
    /// a plain file and `may_replace`.
    AtomicFile(const std::string& path, bool may_replace);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// Where it is written: an empty file as yet.
    const std::filesystem::path& temporary_path() const noexcept { return temporary_path_; }
    /// Throws Error(file).
    void commit();

private:
    std::filesystem::path path_, temporary_path_;
};

}  // namespace cairn::cli
