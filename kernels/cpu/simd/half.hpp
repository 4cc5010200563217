#pragma once

#include "kernels/cpu/simd/vector.hpp"
#include "types/half.hpp"

/// f16 and bf16 to f32, and f16 back: by the level's instruction where it has one, else by types/half.hpp, with the
/// same results.
namespace CAIRN_LEVEL {

/// Elements as they lie in memory, which load as floats.
enum class F16 : std::uint16_t {};
enum class BF16 : std::uint16_t {};

using Halves = std::uint16_t __attribute__((vector_size(2 * lanes)));
using F4 = float __attribute__((vector_size(16)));
using F4Memory = float __attribute__((vector_size(16), aligned(4), may_alias));

CAIRN_INLINE float widened(float x) { return x; }
CAIRN_INLINE float widened(F16 x) { return types::f16_to_f32(static_cast<std::uint16_t>(x)); }
CAIRN_INLINE float widened(BF16 x) { return types::bf16_to_f32(static_cast<std::uint16_t>(x)); }

CAIRN_INLINE F32 widened(Halves h, BF16) { return from_bits(__builtin_convertvector(h, I32) << 16); }
CAIRN_INLINE F32 widened(Halves h, F16) {
#if defined(__AVX512F__) && !defined(CAIRN_LANES)
    // The plain form warns of an uninitialised value in g++ 12.
    return _mm512_maskz_cvtph_ps(static_cast<__mmask16>(-1), std::bit_cast<__m256i>(h));
#elif defined(__F16C__) && !defined(CAIRN_LANES)
    return _mm256_cvtph_ps(std::bit_cast<__m128i>(h));
#else
    F32 r;
    for (int i = 0; i < lanes; ++i) r[i] = types::f16_to_f32(h[i]);
    return r;
#endif
}

template <typename Half>
CAIRN_INLINE F32 load(const Half* p) {
    Halves h;
    std::memcpy(&h, p, sizeof h);
    return widened(h, Half());
}
/// The first `count` < lanes elements, and zeros. Reads no byte behind them.
template <typename Half>
CAIRN_INLINE F32 load_part(const Half* p, std::int64_t count) {
    Halves h{};
    std::memcpy(&h, p, static_cast<std::size_t>(count) * 2);
    return widened(h, Half());
}

CAIRN_INLINE F4 load_four(const float* p) { return *reinterpret_cast<const F4Memory*>(p); }
template <typename Half>
CAIRN_INLINE F4 load_four(const Half* p) {
    F4 r;
    for (int i = 0; i < 4; ++i) r[i] = widened(p[i]);
    return r;
}

inline void floats_of_f16(float* to, const std::uint16_t* from, std::int64_t n) {
    std::int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
    }
#endif
    for (; i < n; ++i) to[i] = types::f16_to_f32(from[i]);
}
inline void f16_of_floats(std::uint16_t* to, const float* from, std::int64_t n) {
    std::int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        const __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), h);
    }
#endif
    for (; i < n; ++i) to[i] = types::f32_to_f16(from[i]);
}

}  // namespace CAIRN_LEVEL
