#include "device/cpu/lazy_memory.hpp"

#include "cairn/error.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace cairn::device {

LazyMemory::LazyMemory(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw Error(ErrorKind::memory, "memory", "cannot reserve " + std::to_string(bytes) + " bytes of address space");
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
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t begin = offset / page * page;
    const std::size_t end = std::min((offset + bytes + page - 1) / page * page, (bytes_ + page - 1) / page * page);
    if (madvise(base_ + begin, end - begin, MADV_POPULATE_WRITE) == 0) return;
    if (errno == ENOMEM || errno == EFAULT)
        throw Error(ErrorKind::memory, "memory", "the system has no " + std::to_string(end - begin) + " more bytes");
    // Kernels before 5.14 do not know the advice: write each page what it holds.
    for (std::size_t at = begin; at < end; at += page) {
        volatile std::byte* byte = base_ + std::min(at, bytes_ - 1);
        *byte = *byte;
    }
}

}  // namespace cairn::device
