#pragma once

#include "kernels/cpu/simd/vector/instructions.hpp"

#include <limits>

/// A vector of floats as wide as the level's registers, written with the compiler's vector extension so that one source
/// serves all levels: 4 lanes (baseline), 8 (avx2), 16 (avx512). Operators work lane by lane; a comparison gives a mask
/// of 0 and -1 for use with `mask ? a : b` and the bit operators.
///
///     for (; i + lanes <= n; i += lanes) store(y + i, load(x + i) * splat(2.0f));
///     store_part(y + i, load_part(x + i, n - i) * splat(2.0f), n - i);
///
/// Operations that this arithmetic cannot express are functions of instructions.hpp.
namespace CAIRN_LEVEL {

using U32 = std::uint32_t __attribute__((vector_size(4 * lanes)));
// The same in memory: unaligned, and may alias any type.
using F32Memory = float __attribute__((vector_size(4 * lanes), aligned(4), may_alias));
using I32Memory = std::int32_t __attribute__((vector_size(4 * lanes), aligned(4), may_alias));

CAIRN_INLINE F32 splat(float x) { return x - F32{}; }
CAIRN_INLINE I32 splat(std::int32_t x) { return x - I32{}; }
CAIRN_INLINE F32 load(const float* p) { return *reinterpret_cast<const F32Memory*>(p); }
CAIRN_INLINE I32 load(const std::int32_t* p) { return *reinterpret_cast<const I32Memory*>(p); }
CAIRN_INLINE void store(float* p, F32 x) { *reinterpret_cast<F32Memory*>(p) = x; }
CAIRN_INLINE void store(std::int32_t* p, I32 x) { *reinterpret_cast<I32Memory*>(p) = x; }
CAIRN_INLINE I32 bits(F32 x) { return std::bit_cast<I32>(x); }
CAIRN_INLINE F32 from_bits(I32 x) { return std::bit_cast<F32>(x); }
CAIRN_INLINE F32 to_float(I32 x) { return __builtin_convertvector(x, F32); }
/// Truncates toward zero; out of range the result is INT_MIN.
CAIRN_INLINE I32 to_int(F32 x) { return __builtin_convertvector(x, I32); }
CAIRN_INLINE bool is_any_true(I32 mask) { return movemask(mask) != 0; }
/// True for infinities and NaN.
CAIRN_INLINE I32 is_not_finite(F32 x) { return (x - x == F32{}) ^ -1; }
/// 0, 1, 2, ...
CAIRN_INLINE I32 lane_numbers() {
    I32 r;
    for (int i = 0; i < lanes; ++i) r[i] = i;
    return r;
}
/// True in the first `count` lanes.
CAIRN_INLINE I32 first_lanes(std::int64_t count) { return lane_numbers() < splat(static_cast<std::int32_t>(count)); }

/// The first `count` <= lanes bytes as integers, then zeros.
CAIRN_INLINE I32 load_bytes(const std::byte* p, std::int64_t count) {
    U8Lanes r{};
    if (count == lanes) {
        std::memcpy(&r, p, lanes);
    } else {
        std::memcpy(&r, p, static_cast<std::size_t>(count));
    }
    return from_bytes(r);
}
CAIRN_INLINE I32 load_bytes(const std::int8_t* p) {
    I8Lanes r;
    std::memcpy(&r, p, sizeof r);
    return from_bytes(r);
}
CAIRN_INLINE I32 load_bytes(const std::uint8_t* p) {
    U8Lanes r;
    std::memcpy(&r, p, sizeof r);
    return from_bytes(r);
}
/// Stores the lowest byte of the first `count` lanes.
CAIRN_INLINE void store_bytes(void* p, I32 x, std::int64_t count = lanes) {
    const U8Lanes r = low_bytes(x);
    std::memcpy(p, &r, count == lanes ? sizeof r : static_cast<std::size_t>(count));
}
CAIRN_INLINE I32 load_part(const std::int32_t* p, std::int64_t count) {
    I32 r{};
    std::memcpy(&r, p, static_cast<std::size_t>(count) * 4);
    return r;
}
CAIRN_INLINE void store_part(std::int32_t* p, I32 x, std::int64_t count) {
    std::memcpy(p, &x, static_cast<std::size_t>(count) * 4);
}

CAIRN_INLINE F32 abs(F32 x) { return from_bits(bits(x) & 0x7fffffff); }
/// |x| with the sign of y.
CAIRN_INLINE F32 copy_sign(F32 x, F32 y) {
    const I32 sign = splat(std::numeric_limits<std::int32_t>::min());
    return from_bits((bits(x) & ~sign) | (bits(y) & sign));
}
/// The larger number; NaN if either is NaN.
CAIRN_INLINE F32 max(F32 a, F32 b) { return a == a ? quick_max(a, b) : a; }
/// The smaller number; NaN if either is NaN.
CAIRN_INLINE F32 min(F32 a, F32 b) { return a == a ? quick_min(a, b) : a; }

/// The largest integer not above x.
CAIRN_INLINE F32 floor(F32 x) {
#if defined(CAIRN_HAS_FLOOR)
    return rounded_down(x);
#else
    const F32 whole = to_float(to_int(x));
    const F32 down = whole > x ? whole - 1.0f : whole;
    // From 2^23 on (and for NaN) x is its own floor; the sign keeps -0.
    return abs(x) < 8388608.0f ? copy_sign(down, x) : x;
#endif
}

}  // namespace CAIRN_LEVEL
