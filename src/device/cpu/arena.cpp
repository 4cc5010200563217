#include "device/cpu/arena.hpp"

#include "cairn/error.hpp"
#include "device/cpu/pages.hpp"

#include <fmt/format.h>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace cairn::device {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

[[noreturn]] void out_of_memory(std::size_t bytes, const char* wanted, int error) {
    throw Error(ErrorKind::memory, "memory",
                fmt::format("cannot {} {} bytes: {}", wanted, bytes, std::strerror(error)));
}

}  // namespace

Arena Arena::reserve(std::size_t bytes, const ArenaOptions& options) {
    Arena arena;
    if (bytes == 0) return arena;
    arena.step_ = options.huge_pages ? huge_page : page_size();
    if (bytes > std::numeric_limits<std::size_t>::max() / 2) out_of_memory(bytes, "reserve", ENOMEM);
    arena.mapped_ = round_up(bytes, arena.step_) + (options.huge_pages ? huge_page : 0);
    void* const at = mmap(nullptr, arena.mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) out_of_memory(bytes, "reserve", errno);
    arena.mapping_ = at;
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    arena.base_ = static_cast<std::byte*>(at) + (round_up(address, arena.step_) - address);
    arena.capacity_ = bytes;
#if defined(MADV_HUGEPAGE)
    // Only advice: the system may use ordinary pages.
    if (options.huge_pages) madvise(arena.base_, round_up(bytes, arena.step_), MADV_HUGEPAGE);
#endif
    return arena;
}

Arena Arena::wrap(void* memory, std::size_t bytes) {
    if (memory == nullptr && bytes > 0) {
        throw Error(ErrorKind::argument, "memory",
                    fmt::format("expected memory for {} bytes, got a null pointer", bytes));
    }
    if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0) {
        throw Error(ErrorKind::argument, "memory",
                    fmt::format("expected memory aligned to {} bytes, got {}", alignment, memory));
    }
    Arena arena;
    arena.base_ = static_cast<std::byte*>(memory);
    arena.capacity_ = bytes;
    arena.step_ = page_size();
    return arena;
}

Arena::~Arena() { unmap(); }

Arena::Arena(Arena&& other) noexcept { *this = std::move(other); }

Arena& Arena::operator=(Arena&& other) noexcept {
    if (this == &other) return *this;
    unmap();
    base_ = std::exchange(other.base_, nullptr);
    capacity_ = std::exchange(other.capacity_, 0);
    touched_ = std::exchange(other.touched_, 0);
    committed_ = std::exchange(other.committed_, 0);
    mapping_ = std::exchange(other.mapping_, nullptr);
    mapped_ = std::exchange(other.mapped_, 0);
    step_ = std::exchange(other.step_, 0);
    return *this;
}

void Arena::unmap() noexcept {
    if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

void Arena::touch(std::size_t bytes, ThreadPool* pool) {
    if (bytes > capacity_) {
        throw Error(ErrorKind::memory, "memory",
                    fmt::format("{} bytes are needed, but there is room for {}", bytes, capacity_));
    }
    if (bytes <= touched_) return;
    if (owned()) {
        commit(bytes, pool);
    } else {
        // The first and last page may hold bytes of others too, which must not change.
        const auto from = reinterpret_cast<std::uintptr_t>(base_ + touched_) / step_ * step_;
        const auto to = round_up(reinterpret_cast<std::uintptr_t>(base_ + bytes), step_);
        const int error =
            populate(reinterpret_cast<std::byte*>(from), reinterpret_cast<std::byte*>(to), base_ + touched_, pool);
        if (error != 0) out_of_memory(bytes, "touch", error);
    }
    touched_ = bytes;
}

void Arena::commit(std::size_t bytes, ThreadPool* pool) {
    const std::size_t wanted = round_up(bytes, bytes < step_ ? page_size() : step_);
    if (wanted <= committed_) return;
    std::byte* const begin = base_ + committed_;
    if (mprotect(begin, wanted - committed_, PROT_READ | PROT_WRITE) != 0) out_of_memory(bytes, "take", errno);
    if (const int error = populate(begin, base_ + wanted, begin, pool); error != 0) {
        madvise(begin, wanted - committed_, MADV_DONTNEED);
        mprotect(begin, wanted - committed_, PROT_NONE);
        out_of_memory(bytes, "take", error);
    }
    committed_ = wanted;
}

std::size_t Arena::resident_bytes() const {
    const std::size_t page = page_size();
    const auto address = reinterpret_cast<std::uintptr_t>(base_);
    std::size_t from = address / page * page, resident = 0;
    const std::size_t to = round_up(address + (owned() ? committed_ : capacity_), page);
    constexpr std::size_t pages_at_once = 4096;
    unsigned char in_core[pages_at_once];
    while (from < to) {
        const std::size_t bytes = std::min(to - from, pages_at_once * page);
        if (mincore(reinterpret_cast<void*>(from), bytes, in_core) != 0) {
            throw InternalError("memory", fmt::format("mincore of {} bytes: {}", bytes, std::strerror(errno)));
        }
        for (std::size_t i = 0; i < bytes / page; ++i) resident += (in_core[i] & 1) != 0 ? page : 0;
        from += bytes;
    }
    return resident;
}

void Arena::poison(std::size_t offset, std::size_t bytes) {
    if (offset > touched_ || bytes > touched_ - offset) {
        throw Error(
            ErrorKind::argument, "memory",
            fmt::format("expected a range within {} touched bytes, got {} bytes at {}", touched_, bytes, offset));
    }
    if (bytes > 0) std::memset(base_ + offset, 0xff, bytes);
}

std::size_t Arena::written_bytes() const noexcept {
    std::size_t end = touched_;
    while (end > 0 && base_[end - 1] == std::byte{0xff}) --end;
    return end;
}

}  // namespace cairn::device
