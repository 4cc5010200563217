#pragma once

#include <chrono>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace cairn::device {

/// Hints to the CPU that this is a spin loop: saves power and leaves the other hyper-thread its share.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Waits for `done()` without sleeping, for at most about `limit`. Returns whether it became true. A limit of zero
/// checks once.
template <class Done>
bool spin_until(const Done& done, std::chrono::nanoseconds limit) noexcept {
    if (done()) return true;
    if (limit.count() <= 0) return false;
    const auto end = std::chrono::steady_clock::now() + limit;
    do {
        for (int i = 0; i < 64; ++i) {
            relax();
            if (done()) return true;
        }
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

}  // namespace cairn::device
