#pragma once

#include "kernels/cpu/panel/product.hpp"
#include "kernels/cpu/simd/vector/horizontal_reduction.hpp"
#include "kernels/cpu/simd/vector/vector.hpp"

#include <cstring>
#include <limits>

/// Quantization of rows of x to integers, for products with panels of codes.
namespace CAIRN_LEVEL {

/// Quantizes 32 elements to integers of at most `most` in magnitude; `store_integers(v, integers)` keeps those of
/// vector v. If an element is not finite, or all are so small that their reciprocals overflow, the scale becomes NaN,
/// and sums with the group are computed from the elements (compute_special_sums).
template <int most, typename F>
CAIRN_INLINE void quantize_group(const float* x, QuantizedGroup& to, F store_integers) noexcept {
    constexpr int vectors = 32 / lanes, in_half = 16 / lanes;
    constexpr float smallest = 0x1p-100F;
    const auto add = [](auto a, auto b) { return a + b; };
    F32 largest{}, sums[2] = {};
    I32 special{};
    for (int v = 0; v < vectors; ++v) {
        const F32 elements = load(x + v * lanes);
        special |= is_not_finite(elements);
        largest = quick_max(largest, abs(elements));
        sums[v / in_half] += elements;
    }
    const float range = reduce_lanes(largest, [](auto a, auto b) { return quick_max(a, b); });
    to = {};
    if (is_any_true(special) || (range < smallest && range != 0)) {
        to.scale = std::numeric_limits<float>::quiet_NaN();
        return;
    }
    const float reciprocal = range == 0 ? 0 : most / range;
    I32 integer_sums[2] = {};
    for (int v = 0; v < vectors; ++v) {
        const F32 scaled = rounded(load(x + v * lanes) * reciprocal);
        const I32 integers = to_int(scaled + copy_sign(splat(0.5F), scaled));
        integer_sums[v / in_half] += integers;
        store_integers(v, integers);
    }
    to.scale = range / most;
    for (int half = 0; half < 2; ++half) {
        to.sums[half] = reduce_lanes(sums[half], add);
        to.integer_sums[half] = reduce_lanes(integer_sums[half], add);
    }
}

/// As integers of 16 bits.
inline void quantize_to_i16(const float* x, QuantizedGroup& to) noexcept {
    quantize_group<32767>(x, to, [&](int v, I32 integers) {
        using I16Lanes = std::int16_t __attribute__((vector_size(2 * lanes)));
        const auto narrow = __builtin_convertvector(integers, I16Lanes);
        std::memcpy(to.bytes + v * sizeof narrow, &narrow, sizeof narrow);
    });
}

/// Runs a plan with weights of `Weight` and rows of x quantized by `quantize(elements, group)`, a share by each member.
template <typename Weight, typename F>
void run_integer_plan(const Args& args, Team& team, F quantize) {
    const TensorArg& x = args.inputs[0];
    const UniformRows rows = rows_of(x);
    const std::int64_t groups = x.shape[x.rank - 1] / 32, count = rows.count * groups;
    const auto* const elements = reinterpret_cast<const float*>(x.data);
    auto* const quantized = reinterpret_cast<QuantizedGroup*>(args.workspace);
    const std::int64_t first = count * team.rank() / team.size(), end = count * (team.rank() + 1) / team.size();
    for (std::int64_t i = first; i < end; ++i)
        quantize(elements + i / groups * rows.stride + i % groups * 32, quantized[i]);
    team.barrier();
    Args rest = args;
    rest.workspace += (count * std::int64_t{sizeof(QuantizedGroup)} + 63) / 64 * 64;
    run_panel_plan<Weight>(rest, team, quantized);
}

}  // namespace CAIRN_LEVEL
