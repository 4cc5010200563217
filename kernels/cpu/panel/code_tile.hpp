#pragma once

#include "kernels/cpu/panel/tile.hpp"

#include <cstddef>
#include <utility>

/// The micro-kernels of products with panels of 8-bit codes (layout panel32_q8). For few rows of x the codes of a group
/// are summed as they are, and the sum is multiplied by the scale of its column; for many rows a part of a panel is
/// widened to floats once, and the tiles of floats read it.
namespace CAIRN_LEVEL {

/// An element of a panel of codes in memory: a code, or a byte of a scale.
enum class Code8 : std::int8_t {};

/// Elements of a panel for each step of k.
template <typename Weight>
inline constexpr std::int64_t panel_row = panel_width;
template <>
inline constexpr std::int64_t panel_row<Code8> = q8_row_bytes;

/// One group of a panel: the scales of its columns, and its codes.
struct CodeGroup {
    const Code8* data;
    F32 scale(int vector) const { return load(reinterpret_cast<const F16*>(data) + vector * lanes); }
    F32 codes(std::int64_t k, int vector) const {
        I8Lanes codes;
        std::memcpy(&codes, data + q8_scale_bytes + k * panel_width + vector * lanes, sizeof codes);
        return to_float(from_bytes(codes));
    }
    static constexpr std::int64_t size = q8_group * q8_row_bytes;
};

/// x[k] W[k, n] summed over a group, with each weight widened on its own: where the sum of codes overflows, or a scale
/// is infinite.
inline float sum_of_weights(const float* x, const Code8* group, std::int64_t column) noexcept {
    const float scale = widened(reinterpret_cast<const F16*>(group)[column]);
    float sum = 0;
    for (std::int64_t k = 0; k < q8_group; ++k)
        sum += x[k] * (scale * static_cast<float>(group[q8_scale_bytes + k * panel_width + column]));
    return sum;
}

/// Adds the sums of a group to those of a tile; sums that are not finite are computed again, from weights.
template <int height, int panels>
__attribute__((noinline, cold)) void add_special_sums(const TileSource<Code8>& source, std::int64_t group,
                                                      const float (&parts)[panels][height][panel_width],
                                                      float* sums) noexcept {
    for (int p = 0; p < panels; ++p) {
        const Code8* const codes = source.panel + p * source.depth * q8_row_bytes + group * CodeGroup::size;
        for (int i = 0; i < height; ++i)
            for (std::int64_t n = 0; n < panel_width; ++n) {
                const float part = parts[p][i][n];
                const float* const x = source.x + i * source.x_stride + group * q8_group;
                sums[(p * tile_height + i) * panel_width + n] += part - part == 0 ? part : sum_of_weights(x, codes, n);
            }
    }
}

/// Computes `height` rows times `panels` consecutive panels of codes, as compute_tile does for panels of floats.
template <int height, int panels, bool prefetches>
__attribute__((noinline)) void compute_code_tile(const TileSource<Code8>& source, float* sums) noexcept {
    // One pointer per three rows: addressing modes reach the base plus once or twice the row stride.
    const float* base[(height + 2) / 3];
    for (int i = 0; i < (height + 2) / 3; ++i) base[i] = source.x + 3 * i * source.x_stride;
    const std::int64_t stride = source.x_stride;
    const Code8* ahead = source.ahead;
    CodeGroup panel[panels];
    for (int p = 0; p < panels; ++p) panel[p].data = source.panel + p * source.depth * q8_row_bytes;
    const auto sums_at = [&](int p, int i, int j) { return sums + (p * tile_height + i) * panel_width + j * lanes; };
    for (int p = 0; p < panels; ++p)
        for (int i = 0; i < height; ++i)
            for (int j = 0; j < panel_vectors; ++j) store(sums_at(p, i, j), F32{});
    for (std::int64_t group = 0; group < source.depth / q8_group; ++group) {
        F32 sum[panels][height][panel_vectors];
#pragma GCC unroll 4
        for (int p = 0; p < panels; ++p)
#pragma GCC unroll 14
            for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
                for (int j = 0; j < panel_vectors; ++j) sum[p][i][j] = F32{};
        for (std::int64_t k = 0; k < q8_group; ++k) {
            if constexpr (prefetches) {
                __builtin_prefetch(ahead, 0, 3);
                ahead += source.ahead_step;
                ahead = group * q8_group + k + 1 == source.switch_step ? source.next_panel : ahead;
            }
            F32 lefts[height];
#pragma GCC unroll 14
            for (int i = 0; i < height; ++i) lefts[i] = splat(base[i / 3][i % 3 * stride]);
#pragma GCC unroll 4
            for (int p = 0; p < panels; ++p)
#pragma GCC unroll 8
                for (int j = 0; j < panel_vectors; ++j) {
                    const F32 right = panel[p].codes(k, j);
#pragma GCC unroll 14
                    for (int i = 0; i < height; ++i) multiply_add(sum[p][i][j], lefts[i], right);
                }
#pragma GCC unroll 5
            for (int i = 0; i < (height + 2) / 3; ++i) base[i] = in_one_register(base[i] + 1);
        }
        I32 special{};
#pragma GCC unroll 4
        for (int p = 0; p < panels; ++p)
#pragma GCC unroll 8
            for (int j = 0; j < panel_vectors; ++j) {
                const F32 scale = panel[p].scale(j);
#pragma GCC unroll 14
                for (int i = 0; i < height; ++i) {
                    sum[p][i][j] *= scale;
                    special |= (sum[p][i][j] - sum[p][i][j] == F32{}) ^ -1;
                }
            }
        if (is_any_true(special)) {
            float parts[panels][height][panel_width];
            for (int p = 0; p < panels; ++p)
                for (int i = 0; i < height; ++i)
                    for (int j = 0; j < panel_vectors; ++j) store(parts[p][i] + j * lanes, sum[p][i][j]);
            add_special_sums<height, panels>(source, group, parts, sums);
        } else {
#pragma GCC unroll 4
            for (int p = 0; p < panels; ++p)
#pragma GCC unroll 14
                for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
                    for (int j = 0; j < panel_vectors; ++j)
                        store(sums_at(p, i, j), load(sums_at(p, i, j)) + sum[p][i][j]);
        }
        for (int p = 0; p < panels; ++p) panel[p].data += CodeGroup::size;
    }
}

template <int... heights>
constexpr std::array<TileFunction<Code8>, sizeof...(heights)> code_tiles_side_by_side(
    std::integer_sequence<int, heights...>) {
    return {compute_code_tile<heights + 1, panels_at_once(heights + 1), panels_at_once(heights + 1) == 1>...};
}
template <int... heights>
constexpr std::array<TileFunction<Code8>, sizeof...(heights)> code_tiles(std::integer_sequence<int, heights...>) {
    return {compute_code_tile<heights + 1, 1, true>...};
}
template <>
inline constexpr auto side_tiles<Code8> = code_tiles_side_by_side(std::make_integer_sequence<int, whole_height>());
template <>
inline constexpr auto whole_tiles<Code8> = code_tiles(std::make_integer_sequence<int, whole_height>());

/// Widens `depth` steps of k, whole groups, to a panel of floats.
inline void widen_codes(const Code8* from, std::int64_t depth, float* to) noexcept {
    for (std::int64_t group = 0; group < depth / q8_group; ++group, from += CodeGroup::size) {
        F32 scales[panel_vectors];
        for (int j = 0; j < panel_vectors; ++j) scales[j] = CodeGroup{from}.scale(j);
        for (std::int64_t k = 0; k < q8_group; ++k, to += panel_width)
            for (int j = 0; j < panel_vectors; ++j) store(to + j * lanes, CodeGroup{from}.codes(k, j) * scales[j]);
    }
}

}  // namespace CAIRN_LEVEL
