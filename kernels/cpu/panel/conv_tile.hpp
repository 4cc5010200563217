#pragma once

#include "kernels/cpu/panel/tile.hpp"

#include <algorithm>
#include <array>
#include <utility>

/// The register tiles (micro-kernels) of filters over an image: each tap reads at its own offset. Every element
/// accumulates one chain of multiply-adds for each `sum_block` taps of a part; the chains are then added in order,
/// whichever tile the element falls in.
namespace CAIRN_LEVEL {

/// Maximal vectors of positions of a tile, and the height of a tile with that many: with more positions a tile reads
/// fewer filters for as many multiply-adds.
inline constexpr int max_position_vectors = 3;
constexpr int conv_tile_height(int vectors) { return vectors == 3 ? filter_height / 2 : filter_height; }
/// Sum stride from one filter to the next, for a number of vectors.
constexpr std::int64_t position_pitch(std::int64_t vectors) { return vectors * lanes > 32 ? 64 : 32; }

/// Filters, and the offsets of the taps from the first. Values that differ between tiles are passed as separate
/// arguments: a struct stored field by field and read back by a wider load would defeat store forwarding.
struct ConvTileSource {
    const float* w;
    std::int64_t w_stride;
    const std::int32_t* offsets;
    std::int64_t depth;
    bool adds;  ///< adds to the sums in memory
};

/// sums[filter * position_pitch(vectors) + position] of the filters at w and the positions at x.
template <int height, int vectors>
__attribute__((noinline)) void compute_conv_tile(const ConvTileSource& source, const float* w, const float* x,
                                                 float* sums) noexcept {
    constexpr std::int64_t pitch = position_pitch(vectors);
    // One pointer for three filters: an address is a base, plus once or twice the distance between filters.
    const float* base[(height + 2) / 3];
    for (int i = 0; i < (height + 2) / 3; ++i) base[i] = w + 3 * i * source.w_stride;
    const std::int64_t stride = source.w_stride;
    std::int64_t k = 0;
    do {
        const std::int64_t end = std::min(k + sum_block, source.depth);
        const bool adds = source.adds || k > 0;
        F32 sum[height][vectors];
#pragma GCC unroll 12
        for (int i = 0; i < height; ++i)
#pragma GCC unroll 4
            for (int j = 0; j < vectors; ++j) sum[i][j] = F32{};
        for (; k < end; ++k) {
            const float* const seen = x + source.offsets[k];
            F32 rights[vectors];
#pragma GCC unroll 4
            for (int j = 0; j < vectors; ++j) rights[j] = load(seen + j * lanes);
#pragma GCC unroll 12
            for (int i = 0; i < height; ++i) {
                const F32 value = splat(base[i / 3][i % 3 * stride]);
#pragma GCC unroll 4
                for (int j = 0; j < vectors; ++j) multiply_add(sum[i][j], value, rights[j]);
            }
#pragma GCC unroll 4
            for (int i = 0; i < (height + 2) / 3; ++i) ++base[i];
        }
#pragma GCC unroll 12
        for (int i = 0; i < height; ++i)
#pragma GCC unroll 4
            for (int j = 0; j < vectors; ++j) {
                float* const to = sums + i * pitch + j * lanes;
                store(to, adds ? sum[i][j] + load(to) : sum[i][j]);
            }
    } while (k < source.depth);
}

using ConvTile = void (*)(const ConvTileSource& source, const float* w, const float* x, float* sums) noexcept;
/// By height - 1.
template <int vectors, int... heights>
constexpr std::array<ConvTile, sizeof...(heights)> conv_tiles_of(std::integer_sequence<int, heights...>) {
    return {compute_conv_tile<heights + 1, vectors>...};
}
template <int vectors>
inline constexpr auto conv_tiles = conv_tiles_of<vectors>(std::make_integer_sequence<int, conv_tile_height(vectors)>());

/// The sums of `height` filters and `vectors` vectors of positions, at most three vectors or 32 positions.
inline void run_conv_tile(const ConvTileSource& source, const float* x, int height, std::int64_t vectors,
                          float* sums) noexcept {
    for (std::int64_t left = vectors, now = 0; left > 0; left -= now, x += now * lanes, sums += now * lanes) {
        now = left == 3 ? 3 : left > 1 ? 2 : 1;
        if (now < 3) {
            (now == 2 ? conv_tiles<2> : conv_tiles<1>)[static_cast<std::size_t>(height - 1)](source, source.w, x, sums);
            continue;
        }
        constexpr int at_once = conv_tile_height(3);
        for (int first = 0; first < height; first += at_once)
            conv_tiles<3>[static_cast<std::size_t>(std::min(at_once, height - first) - 1)](
                source, source.w + first * source.w_stride, x, sums + first * position_pitch(3));
    }
}

}  // namespace CAIRN_LEVEL
