#pragma once

#include "kernels/cpu/panel/linear_plan.hpp"
#include "kernels/cpu/simd/vector/horizontal_reduction.hpp"
#include "kernels/cpu/simd/vector/vector.hpp"

#include <cstring>

/// Quantization of rows of x to 16 bits, for products of integers.
namespace CAIRN_LEVEL {

/// Quantizes 32 elements. False if one is not finite, or all are so small that their reciprocals overflow.
inline bool quantize_group(const float* x, QuantizedGroup& to) noexcept {
    constexpr int vectors = 32 / lanes, in_half = 16 / lanes;
    constexpr float smallest = 0x1p-100F;
    const auto add = [](auto a, auto b) { return a + b; };
    F32 largest{}, sums[2] = {};
    I32 special{};
    for (int v = 0; v < vectors; ++v) {
        const F32 elements = load(x + v * lanes);
        special |= (elements - elements == F32{}) ^ -1;
        largest = quick_max(largest, abs(elements));
        sums[v / in_half] += elements;
    }
    const float most = reduce_lanes(largest, [](auto a, auto b) { return quick_max(a, b); });
    if (is_any_true(special) || (most < smallest && most != 0)) return false;
    const float reciprocal = most == 0 ? 0 : 32767 / most;
    I32 code_sums[2] = {};
    for (int v = 0; v < vectors; ++v) {
        const F32 scaled = load(x + v * lanes) * reciprocal;
        const I32 codes = to_int(scaled + copy_sign(splat(0.5F), scaled));
        code_sums[v / in_half] += codes;
        using I16Lanes = std::int16_t __attribute__((vector_size(2 * lanes)));
        const auto narrow = __builtin_convertvector(codes, I16Lanes);
        std::memcpy(to.codes + v * lanes, &narrow, sizeof narrow);
    }
    to.scale = most / 32767;
    for (int half = 0; half < 2; ++half) {
        to.sums[half] = reduce_lanes(sums[half], add);
        to.code_sums[half] = reduce_lanes(code_sums[half], add);
    }
    return true;
}

}  // namespace CAIRN_LEVEL
