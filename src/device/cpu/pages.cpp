#include "device/cpu/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace cairn::device {

std::size_t page_size() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

int populate(std::byte* begin, std::byte* end, std::byte* own) noexcept {
    if (begin == end) return 0;
#if defined(__linux__)
    constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, Linux 5.14
    int error = 0;
    do {
        error = madvise(begin, static_cast<std::size_t>(end - begin), populate_write) == 0 ? 0 : errno;
    } while (error == EINTR || error == EAGAIN);
    if (error != EINVAL) return error == EFAULT || error == EHWPOISON ? ENOMEM : error;
#endif
    for (std::byte* at = begin; at < end; at += page_size()) {
        // Adds nothing, yet writes: right even where the caller's own memory is in use.
        auto* const byte = reinterpret_cast<unsigned char*>(std::max(at, own));
        std::atomic_ref<unsigned char>(*byte).fetch_or(0, std::memory_order_relaxed);
    }
    return 0;
}

}  // namespace cairn::device
