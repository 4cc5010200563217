#pragma once

#include <filesystem>
#include <string>

namespace cairn::cli {

/// A file that is there when it is whole: it is written under another name beside its place, and moved there by keep().
/// What is not kept is removed.
class NewFile {
public:
    /// Throws Error(file) where a file of that path could not be written, and where there is one already, unless it is
    /// a plain file and `may_replace`.
    NewFile(const std::string& path, bool may_replace);
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    /// Where it is written: an empty file as yet.
    const std::filesystem::path& unfinished() const noexcept { return unfinished_; }
    /// Throws Error(file).
    void keep();

private:
    std::filesystem::path path_, unfinished_;
};

}  // namespace cairn::cli
