#pragma once

#include "kernels/cpu/table.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/// A vector of floats as wide as the level's registers, written with the compiler's vector extension so that one source
/// serves all levels: 4 lanes (baseline), 8 (avx2), 16 (avx512). Operators work lane by lane; a comparison gives a mask
/// of 0 and -1 that `mask ? a : b` and the bit operators take.
///
///     for (; i + lanes <= n; i += lanes) store(y + i, load(x + i) * splat(2.0f));
///     store_part(y + i, load_part(x + i, n - i) * splat(2.0f), n - i);
///
/// Why not intrinsics: the three levels then differ in width alone, and a width can be tested on a machine without the
/// level (CAIRN_LANES).
namespace CAIRN_LEVEL {

#if defined(CAIRN_LANES)
inline constexpr int lanes = CAIRN_LANES;
#elif defined(__AVX512F__)
inline constexpr int lanes = 16;
#elif defined(__AVX2__)
inline constexpr int lanes = 8;
#else
inline constexpr int lanes = 4;
#endif

#define CAIRN_INLINE inline __attribute__((always_inline))

using F32 = float __attribute__((vector_size(4 * lanes)));
using I32 = std::int32_t __attribute__((vector_size(4 * lanes)));
using U32 = std::uint32_t __attribute__((vector_size(4 * lanes)));
// The same in memory: at any address, over any type.
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
/// 0, 1, 2, ...
CAIRN_INLINE I32 lane_numbers() {
    I32 r;
    for (int i = 0; i < lanes; ++i) r[i] = i;
    return r;
}
/// True in the first `count` lanes.
CAIRN_INLINE I32 first_lanes(std::int64_t count) { return lane_numbers() < splat(static_cast<std::int32_t>(count)); }

/// The first `count` < lanes elements, and zeros. Reads no byte behind them.
CAIRN_INLINE F32 load_part(const float* p, std::int64_t count) {
#if defined(__AVX512F__) && !defined(CAIRN_LANES)
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), p);
#elif defined(__AVX2__) && !defined(CAIRN_LANES)
    return _mm256_maskload_ps(p, std::bit_cast<__m256i>(first_lanes(count)));
#else
    F32 r{};
    std::memcpy(&r, p, static_cast<std::size_t>(count) * 4);
    return r;
#endif
}
/// The first `count` <= lanes bytes as integers, and zeros.
CAIRN_INLINE I32 load_bytes(const std::byte* p, std::int64_t count) {
    using Bytes = unsigned char __attribute__((vector_size(lanes)));
    Bytes r{};
    if (count == lanes) {
        std::memcpy(&r, p, lanes);
    } else {
        std::memcpy(&r, p, static_cast<std::size_t>(count));
    }
    return __builtin_convertvector(r, I32);
}
/// Writes the first `count` < lanes elements and nothing else.
CAIRN_INLINE void store_part(float* p, F32 x, std::int64_t count) {
#if defined(__AVX512F__) && !defined(CAIRN_LANES)
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << count) - 1), x);
#elif defined(__AVX2__) && !defined(CAIRN_LANES)
    _mm256_maskstore_ps(p, std::bit_cast<__m256i>(first_lanes(count)), x);
#else
    std::memcpy(p, &x, static_cast<std::size_t>(count) * 4);
#endif
}
CAIRN_INLINE I32 load_part(const std::int32_t* p, std::int64_t count) {
    I32 r{};
    std::memcpy(&r, p, static_cast<std::size_t>(count) * 4);
    return r;
}
CAIRN_INLINE void store_part(std::int32_t* p, I32 x, std::int64_t count) {
    std::memcpy(p, &x, static_cast<std::size_t>(count) * 4);
}

/// sum += a * b, in one rounding where the level has it. Spelled in assembler because g++ 12 otherwise moves
/// accumulators of a register tile to memory.
CAIRN_INLINE void multiply_add(F32& sum, F32 a, F32 b) {
#if defined(__FMA__) && !defined(CAIRN_LANES)
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
#else
    sum += a * b;
#endif
}

CAIRN_INLINE F32 sqrt(F32 x) {
#if defined(__AVX512F__) && !defined(CAIRN_LANES)
    // The plain form warns of an uninitialised value in g++ 12.
    return _mm512_maskz_sqrt_ps(static_cast<__mmask16>(-1), x);
#elif defined(__AVX2__) && !defined(CAIRN_LANES)
    return _mm256_sqrt_ps(x);
#else
    F32 r;
    for (int i = 0; i < lanes; ++i) r[i] = __builtin_sqrtf(x[i]);
    return r;
#endif
}

CAIRN_INLINE F32 abs(F32 x) { return from_bits(bits(x) & 0x7fffffff); }
/// |x| with the sign of y.
CAIRN_INLINE F32 copy_sign(F32 x, F32 y) {
    const I32 sign = splat(std::numeric_limits<std::int32_t>::min());
    return from_bits((bits(x) & ~sign) | (bits(y) & sign));
}
/// The larger; NaN if either is.
CAIRN_INLINE F32 max(F32 a, F32 b) {
    const F32 r = a > b ? a : b;
    return a == a ? r : a;
}
/// The smaller; NaN if either is.
CAIRN_INLINE F32 min(F32 a, F32 b) {
    const F32 r = a < b ? a : b;
    return a == a ? r : a;
}
/// The larger, b if either is NaN: one instruction.
CAIRN_INLINE F32 quick_max(F32 a, F32 b) { return a > b ? a : b; }

/// The largest integer not above x.
CAIRN_INLINE F32 floor(F32 x) {
    const F32 whole = to_float(to_int(x));
    const F32 down = whole > x ? whole - 1.0f : whole;
    // From 2^23 on (and for NaN) x is its own floor; the sign keeps -0.
    return abs(x) < 8388608.0f ? copy_sign(down, x) : x;
}

/// Folds the lanes by `f`, in an order that depends on the width alone.
template <typename Fold>
CAIRN_INLINE float fold_lanes(F32 x, Fold f) {
    float values[lanes];
    store(values, x);
    for (int width = lanes / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; ++i) values[i] = f(values[i], values[i + width]);
    }
    return values[0];
}
CAIRN_INLINE float sum_lanes(F32 x) {
    return fold_lanes(x, [](float a, float b) { return a + b; });
}
/// The largest lane; NaN if any is.
CAIRN_INLINE float max_lanes(F32 x) {
    return fold_lanes(x, [](float a, float b) { return a > b || a != a ? a : b; });
}

}  // namespace CAIRN_LEVEL
