#include "weights/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "weights/weight_file_error.hpp"

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers and are used in place");

namespace cairn::inline v0::weights {

namespace {

std::string reason() { return std::system_category().message(errno); }

struct Descriptor {
    int value;
    ~Descriptor() {
        if (value >= 0) ::close(value);
    }
};

std::uintptr_t page_size() { return static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)); }

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// The file mapped where huge pages may begin; null with errno set.
void* map_aligned(int file, std::size_t bytes) {
    const std::size_t reserved = bytes + huge_page;
    void* const room = ::mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return nullptr;
    const auto begin = reinterpret_cast<std::uintptr_t>(room), page = page_size();
    const std::uintptr_t base = (begin + huge_page - 1) / huge_page * huge_page;
    const std::uintptr_t end = (base + bytes + page - 1) / page * page;
    if (::mmap(reinterpret_cast<void*>(base), bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED) {
        const int error = errno;
        ::munmap(room, reserved);
        errno = error;
        return nullptr;
    }
    if (base > begin) ::munmap(room, base - begin);
    if (end < begin + reserved) ::munmap(reinterpret_cast<void*>(end), begin + reserved - end);
    ::madvise(reinterpret_cast<void*>(base), bytes, MADV_HUGEPAGE);
    return reinterpret_cast<void*>(base);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : name_(path.string()) {
    // Opening a pipe would wait for a writer.
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.value < 0) throw bad_file(name_, "cannot be opened: " + reason());
    struct stat status {};
    if (::fstat(file.value, &status) != 0) throw bad_file(name_, "cannot be examined: " + reason());
    if (!S_ISREG(status.st_mode)) throw bad_file(name_, "is not a regular file");
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;
    modified_ = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    data_ = static_cast<const std::byte*>(map_aligned(file.value, size_));
    if (data_ == nullptr) throw bad_file(name_, "cannot be mapped: " + reason());
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::will_need(std::span<const std::byte> part) const noexcept {
    const auto page = page_size();
    const auto begin = reinterpret_cast<std::uintptr_t>(part.data()) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(part.data()) + part.size();
    if (!part.empty()) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_WILLNEED);
}

void MappedFile::give_back(std::span<const std::byte> part) const noexcept {
    const auto page = page_size();
    const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(part.data()) + part.size()) / page * page;
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace cairn::inline v0::weights
