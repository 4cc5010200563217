#include "io/mapped_file/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "io/mapped_file/file_error.hpp"

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers and are used in place");

namespace cairn::files {

namespace {

std::string reason() { return std::system_category().message(errno); }

struct Descriptor {
    explicit Descriptor(int opened) : value(opened) {}
    ~Descriptor() {
        if (value >= 0) ::close(value);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    const int value;
};

/// Opens a file inside a folder, one name after the other, so that no symbolic link is followed; negative with errno
/// set. Closes `folder`.
int open_inside(int folder, std::string_view relative) {
    const Descriptor owned(folder);
    if (folder < 0) return -1;
    const std::size_t slash = relative.find('/');
    const std::string name(relative.substr(0, slash));
    if (slash == std::string_view::npos)
        return ::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    return open_inside(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW),
                       relative.substr(slash + 1));
}

/// True for names of folders and a file, separated by single slashes.
bool is_inside(std::string_view relative) {
    while (true) {
        const std::size_t slash = relative.find('/');
        const std::string_view name = relative.substr(0, slash);
        if (name.empty() || name == "." || name == ".." || name.find('\0') != std::string_view::npos) return false;
        if (slash == std::string_view::npos) return true;
        relative.remove_prefix(slash + 1);
    }
}

std::uintptr_t page_size() { return static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)); }

std::int64_t modified_of(const struct stat& status) {
    return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

/// True if all bytes were read.
bool read_at(int file, std::size_t at, char* to, std::size_t bytes) {
    while (bytes > 0) {
        const ssize_t count = ::pread(file, to, bytes, static_cast<off_t>(at));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        const auto got = static_cast<std::size_t>(count);
        at += got, to += got, bytes -= got;
    }
    return true;
}

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Maps the file at an address where huge pages may begin; null with errno set.
void* map_aligned(int file, std::size_t bytes) {
    const std::size_t reserved = bytes + huge_page;
    void* const reserved_range =
        ::mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved_range == MAP_FAILED) return nullptr;
    const auto begin = reinterpret_cast<std::uintptr_t>(reserved_range), page = page_size();
    const std::uintptr_t base = (begin + huge_page - 1) / huge_page * huge_page;
    const std::uintptr_t end = (base + bytes + page - 1) / page * page;
    if (::mmap(reinterpret_cast<void*>(base), bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED) {
        const int error = errno;
        ::munmap(reserved_range, reserved);
        errno = error;
        return nullptr;
    }
    if (base > begin) ::munmap(reserved_range, base - begin);
    if (end < begin + reserved) ::munmap(reinterpret_cast<void*>(end), begin + reserved - end);
    ::madvise(reinterpret_cast<void*>(base), bytes, MADV_HUGEPAGE);
    return reinterpret_cast<void*>(base);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path, std::string_view format) : name_(path.string()) {
    // Opening a pipe would wait for a writer.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    map(file.value, format, true);
}

MappedFile::MappedFile(const std::filesystem::path& folder, std::string_view relative, std::string_view format)
    : name_((folder / relative).string()) {
    if (!is_inside(relative))
        throw file_error(format, folder.string(), printable(relative) + " is no path to a file inside this folder");
    const std::filesystem::path& opened = folder.empty() ? std::filesystem::path(".") : folder;
    const Descriptor file(open_inside(::open(opened.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY), relative));
    map(file.value, format, false);
}

void MappedFile::map(int descriptor, std::string_view format, bool may_have_links) {
    if (descriptor < 0) throw file_error(format, name_, "cannot be opened: " + reason());
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) throw file_error(format, name_, "cannot be examined: " + reason());
    if (!S_ISREG(status.st_mode)) throw file_error(format, name_, "is not a regular file");
    if (!may_have_links && status.st_nlink > 1)
        throw file_error(format, name_, "has a hard link elsewhere, and may be a file from outside this folder");
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;
    modified_ = modified_of(status);
    device_ = status.st_dev;
    inode_ = status.st_ino;
    data_ = static_cast<const std::byte*>(map_aligned(descriptor, size_));
    if (data_ == nullptr) throw file_error(format, name_, "cannot be mapped: " + reason());
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::append(std::span<const std::span<const std::byte>> parts, std::string& text) const {
    // Opened anew: a descriptor kept for each file would count against the host's limit.
    const Descriptor file(::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    const bool is_same = file.value >= 0 && ::fstat(file.value, &status) == 0 && status.st_dev == device_ &&
                         status.st_ino == inode_ && modified_of(status) == modified_;
    for (const std::span<const std::byte> part : parts) {
        const std::size_t length = text.size();
        text.resize(length + part.size());
        // If the file of that name was replaced, the old one is still mapped.
        if (!is_same || !read_at(file.value, static_cast<std::size_t>(part.data() - data_), &text[length], part.size()))
            std::copy_n(reinterpret_cast<const char*>(part.data()), part.size(), &text[length]);
    }
}

void MappedFile::will_need(std::span<const std::byte> part) const noexcept {
    const auto page = page_size();
    const auto begin = reinterpret_cast<std::uintptr_t>(part.data()) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(part.data()) + part.size();
    if (!part.empty()) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_WILLNEED);
}

void MappedFile::release_pages(std::span<const std::byte> part) const noexcept {
    const auto page = page_size();
    const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(part.data()) + part.size()) / page * page;
    if (begin >= end) return;
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    // Otherwise, touching a small neighbour later would bring these pages back with it.
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_NOHUGEPAGE);
}

}  // namespace cairn::files
