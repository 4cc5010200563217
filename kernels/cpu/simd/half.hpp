#pragma once

#include "kernels/cpu/simd/vector.hpp"
#include "types/half.hpp"

/// Runs of f16 to f32 and back: by the level's instruction where it has one, else by types/half.hpp, with the same
/// results.
namespace CAIRN_LEVEL {

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
