#include "device/cpu/lazy_memory.hpp"

#include "cairn/error.hpp"
#include "device/cpu/pages.hpp"

#include <fmt/format.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace cairn::device {

LazyMemory::LazyMemory(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw Error(ErrorKind::memory, "memory", fmt::format("cannot reserve {} bytes of address space", bytes));
    base_ = static_cast<std::byte*>(memory);
}

LazyMemory::~LazyMemory() {
    if (base_ != nullptr) munmap(base_, bytes_);
}

LazyMemory::LazyMemory(LazyMemory&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

LazyMemory& LazyMemory::operator=(LazyMemory&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

void LazyMemory::touch(std::size_t offset, std::size_t bytes) {
    if (bytes == 0) return;
    const std::size_t page = page_size();
    const std::size_t begin = offset / page * page,
                      end = std::min(round_up(offset + bytes, page), round_up(bytes_, page));
    if (const int error = populate(base_ + begin, base_ + end, base_ + begin); error != 0)
        throw Error(ErrorKind::memory, "memory",
                    fmt::format("cannot touch {} more bytes: {}", end - begin, std::strerror(error)));
}

}  // namespace cairn::device
