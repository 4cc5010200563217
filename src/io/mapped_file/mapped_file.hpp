#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace cairn::files {

/// A regular file, mapped read-only. Pages are read when touched; if the system can, in huge pages of 2 MiB, each
/// covered by one entry of the page table.
class MappedFile {
public:
    /// Throws Error(file) with the system's reason, for the part `format`.
    MappedFile(const std::filesystem::path& path, std::string_view format);
    /// A file that another one names. `relative` must lead to it inside `folder` by names of folders alone: no `..`, no
    /// symbolic link, and no file that has a second hard link. Throws Error(file), with the path, otherwise.
    MappedFile(const std::filesystem::path& folder, std::string_view relative, std::string_view format);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
    const std::string& name() const noexcept { return name_; }
    /// Time of the last change: nanoseconds since 1970.
    std::int64_t modified() const noexcept { return modified_; }
    /// Appends these parts of bytes() to `text`. They are read from the file, not from the mapping: mapping pages for a
    /// few bytes each takes longer.
    void append(std::span<const std::span<const std::byte>> parts, std::string& text) const;
    /// Asks the system to start reading these bytes.
    void will_need(std::span<const std::byte> part) const noexcept;
    /// Frees the memory of the pages that lie wholly inside; touching them again reads the file again, in small pages.
    void release_pages(std::span<const std::byte> part) const noexcept;

private:
    void map(int descriptor, std::string_view format, bool may_have_links);

    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::int64_t modified_ = 0;
    std::uint64_t device_ = 0, inode_ = 0;
    std::string name_;
};

}  // namespace cairn::files
