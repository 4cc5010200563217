#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace cairn::device {

/// Sets this thread's floating-point mode to the default (round to nearest, subnormal numbers kept, no traps) during
/// its lifetime. Otherwise a host that flushes subnormals to zero would get different results from the chunks that its
/// own thread computes.
class DefaultFloatMode {
public:
#if defined(__x86_64__)
    DefaultFloatMode() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
    ~DefaultFloatMode() { _mm_setcsr(saved_); }
#else
    DefaultFloatMode() noexcept {
        std::fegetenv(&saved_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultFloatMode() { std::fesetenv(&saved_); }
#endif
    DefaultFloatMode(const DefaultFloatMode&) = delete;
    DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

private:
#if defined(__x86_64__)
    unsigned saved_;
#else
    std::fenv_t saved_;
#endif
};

}  // namespace cairn::device
