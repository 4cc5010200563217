#pragma once

#include "kernels/cpu/panel/conv_tile.hpp"
#include "kernels/cpu/simd/vector/horizontal_reduction.hpp"

#include <algorithm>

/// Remainder positions of a convolution, too few to fill a vector: these are vectorised along the taps. Each position
/// has a row with the elements of its taps.
namespace CAIRN_LEVEL {

/// sums[i * pitch + j] of filters i < `height` and positions j < `positions`, which read x[j]: one chain of
/// multiply-adds per lane, then a horizontal reduction; accumulated on the sums in memory if the source says so.
template <int positions>
[[gnu::noinline]] void sum_remainder_positions(const ConvTileSource& source, const float* x, std::int64_t x_stride,
                                               int height, float* sums, std::int64_t pitch) noexcept {
    constexpr int filters = 4, all = filters * positions, groups = (all + lanes - 1) / lanes;
    for (int first = 0; first < height; first += filters) {
        const float* w[filters];
        // Missing filters repeat the last one.
        for (int i = 0; i < filters; ++i) w[i] = source.w + std::min(first + i, height - 1) * source.w_stride;
        F32 sum[groups * lanes] = {};
        const auto step = [&](auto load_all) __attribute__((always_inline)) {
            F32 seen[positions];
#pragma GCC unroll 4
            for (int j = 0; j < positions; ++j) seen[j] = load_all(x + j * x_stride);
#pragma GCC unroll 4
            for (int i = 0; i < filters; ++i) {
                const F32 factor = load_all(w[i]);
#pragma GCC unroll 4
                for (int j = 0; j < positions; ++j) multiply_add(sum[i * positions + j], factor, seen[j]);
            }
        };
        std::int64_t k = 0;
        for (; k + lanes <= source.depth; k += lanes)
            step([k](const float* from) __attribute__((always_inline)) { return load(from + k); });
        if (const std::int64_t rest = source.depth - k; rest > 0)
            step([ k, rest ](const float* from) __attribute__((always_inline)) { return load_part(from + k, rest); });
        alignas(64) float reduced[groups * lanes];
        for (int g = 0; g < groups; ++g) {
            F32 some[lanes];
#pragma GCC unroll 16
            for (int i = 0; i < lanes; ++i) some[i] = sum[g * lanes + i];
            store(reduced + g * lanes, reduce_vectors(some, [](F32 a, F32 b) { return a + b; }));
        }
        for (int i = 0; i < std::min(filters, height - first); ++i)
            for (int j = 0; j < positions; ++j) {
                const int n = i * positions + j;
                float& to = sums[(first + i) * pitch + j];
                to = reduced[n / lanes * lanes + reduced_lane<F32>(n % lanes)] + (source.adds ? to : 0.0f);
            }
    }
}

/// For any number of positions.
inline void sum_remainder_positions(const ConvTileSource& source, const float* x, std::int64_t x_stride,
                                    std::int64_t positions, int height, float* sums, std::int64_t pitch) noexcept {
    for (; positions >= 4; positions -= 4, x += 4 * x_stride, sums += 4)
        sum_remainder_positions<4>(source, x, x_stride, height, sums, pitch);
    for (; positions > 0; --positions, x += x_stride, ++sums)
        sum_remainder_positions<1>(source, x, x_stride, height, sums, pitch);
}

}  // namespace CAIRN_LEVEL
