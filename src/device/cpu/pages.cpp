#include "device/cpu/pages.hpp"

#include "device/cpu/thread_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace cairn::device {
namespace {

// Parts are multiples of this: the largest page size that an arena requests, so that no two threads fault in the same
// page.
constexpr std::size_t part_unit = std::size_t{2} << 20;

struct Parts {
    std::byte *begin, *end, *own;
    std::atomic<int> error{0};

    void populate(int rank, int size) {
        const auto bytes = static_cast<std::size_t>(end - begin);
        const std::size_t part =
            round_up((bytes + static_cast<std::size_t>(size) - 1) / static_cast<std::size_t>(size), part_unit);
        const std::size_t from = std::min(static_cast<std::size_t>(rank) * part, bytes),
                          to = std::min(from + part, bytes);
        if (const int failed = device::populate(begin + from, begin + to, std::max(own, begin + from)); failed != 0)
            error.store(failed, std::memory_order_relaxed);
    }
};

}  // namespace

std::size_t page_size() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

int populate(std::byte* begin, std::byte* end, std::byte* own, ThreadPool* pool) {
    if (begin == end) return 0;
    if (pool != nullptr && pool->size() > 1 && static_cast<std::size_t>(end - begin) >= 2 * part_unit) {
        Parts parts{begin, end, own};
        pool->run([](void* all, int rank, int size) { static_cast<Parts*>(all)->populate(rank, size); }, &parts);
        return parts.error.load(std::memory_order_relaxed);
    }
#if defined(__linux__)
    constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, Linux 5.14
    int error = 0;
    do {
        error = madvise(begin, static_cast<std::size_t>(end - begin), populate_write) == 0 ? 0 : errno;
    } while (error == EINTR || error == EAGAIN);
    if (error != EINVAL) return error == EFAULT || error == EHWPOISON ? ENOMEM : error;
#endif
    for (std::byte* at = begin; at < end; at += page_size()) {
        // Writes without changing the value, so it is safe even if the caller's memory is in use.
        auto* const byte = reinterpret_cast<unsigned char*>(std::max(at, own));
        std::atomic_ref<unsigned char>(*byte).fetch_or(0, std::memory_order_relaxed);
    }
    return 0;
}

}  // namespace cairn::device
