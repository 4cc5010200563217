#pragma once

#include "kernels/cpu/simd/vector/half.hpp"
#include "kernels/cpu/simd/vector/round_to_odd.hpp"

#include <limits>

/// Casts of elements in memory format, through a vector of floats that is not stored. Floats represent all values of
/// either side, or all that the narrower side distinguishes: numbers with more digits are rounded to odd.
namespace CAIRN_LEVEL {

template <typename From>
CAIRN_INLINE F32 floats_at(const From* x) {
    if constexpr (sizeof(From) == 1)
        return to_float(load_bytes(x));
    else if constexpr (sizeof(From) == 8)
        return to_odd(vec_load(x), vec_load(x + vec_lanes<From>));
    else if constexpr (std::is_same_v<From, std::int32_t>)
        return to_odd(load(x));
    else
        return load(x);
}

/// Truncates and saturates to the range of To. NaN, which neither limit replaces, becomes INT_MIN, whose lowest byte is
/// 0.
template <typename To>
CAIRN_INLINE I32 truncated(F32 x) {
    constexpr float low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
    return to_int(quick_min(splat(high), quick_max(splat(low), x)));
}

/// Stores values cast from From as elements of To; bool stores truth values as bytes.
template <typename To, typename From>
CAIRN_INLINE void put_floats(To* to, F32 x) {
    if constexpr (std::is_same_v<To, bool>) {
        store_bytes(to, (x != F32{}) & 1);
    } else if constexpr (sizeof(To) == 1) {
        store_bytes(to, truncated<To>(x));
    } else if constexpr (std::is_same_v<To, BF16> && std::is_integral_v<From>) {
        // Integers are never NaN, and bytes need no rounding.
        const U32 all = std::bit_cast<U32>(x);
        const Halves h = upper_halves(sizeof(From) == 1 ? all : to_nearest_upper(all));
        std::memcpy(to, &h, sizeof h);
    } else {
        store(to, x);
    }
}

template <typename From, typename To>
void cast_through_floats(void* r, const void* a, const void*, const void*, std::int64_t n) {
    const auto vector = [](To * to, const From* from) __attribute__((always_inline)) {
        put_floats<To, From>(to, floats_at(from));
    };
    auto* const to = static_cast<To*>(r);
    const auto* const x = static_cast<const From*>(a);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) vector(to + i, x + i);
    if (i == n) return;
    From rest[lanes] = {};
    To last[lanes];
    std::memcpy(rest, x + i, static_cast<std::size_t>(n - i) * sizeof(From));
    vector(last, rest);
    std::memcpy(to + i, last, static_cast<std::size_t>(n - i) * sizeof(To));
}

}  // namespace CAIRN_LEVEL
