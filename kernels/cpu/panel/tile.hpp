#pragma once

#include "kernels/cpu/panel/linear_plan.hpp"
#include "kernels/cpu/simd/vector/half.hpp"

#include <algorithm>
#include <array>
#include <utility>

/// The micro-kernels of the packed product: `height` rows of x times a group of a panel's columns. x is read unpacked,
/// one broadcast per row. Every element accumulates one chain of multiply-adds for each `sum_block` steps of k; the
/// chains are then added in order. Blocks begin at multiples of `sum_block` of the whole depth, so an element is
/// bitwise independent of its tile and thread. 16-bit panels are widened as they are loaded.
namespace CAIRN_LEVEL {

/// Register blocking: vectors of a panel's row of 32 columns, and of a tall tile; rows of a tall tile, and of a tile of
/// filters; maximal rows of a tile that spans the whole panel.
inline constexpr int panel_vectors = 32 / lanes;
inline constexpr int group_vectors = 2;
inline constexpr int tile_height = lanes == 16 ? 14 : lanes == 8 ? 6 : 4;
inline constexpr int filter_height = lanes == 16 ? 12 : tile_height;
inline constexpr int whole_height = lanes == 16 ? 14 : lanes == 8 ? 3 : 1;
/// Accumulators of a tile: with half as many the latency of multiply-adds is exposed; more do not fit into registers.
inline constexpr int max_sums = lanes == 16 ? 28 : 12;
inline constexpr int max_panels_at_once = 4;

/// Steps of k that one chain of multiply-adds covers. The rounding error of a chain grows with the root of its length:
/// over 3072 steps one chain errs 4 times as much as 24 chains that are added (docs/decisions/0094).
inline constexpr std::int64_t sum_block = 128;

/// Elements of a panel for each step of k, and the rows up to which tiles span whole panels.
template <typename Weight>
inline constexpr std::int64_t panel_row = panel_width;
template <typename Weight>
inline constexpr int few_rows = whole_height;
/// Rows of a tile of a group of columns.
template <typename Weight>
inline constexpr int block_height = tile_height;
/// Rows come in blocks of whole units.
template <typename Weight>
inline constexpr std::int64_t row_unit = 1;
/// Steps of k that one chain covers.
template <typename Weight>
inline constexpr std::int64_t chain_steps = sum_block;
/// Registers for one vector of results: for its sums, and where these are of integers, for the floats that they add to.
template <typename Weight>
inline constexpr int registers_of_sum = 1;

/// Panels that a tile of few rows reads side by side, if registers allow at least three: three or four streams use more
/// of the memory bandwidth than one stream with prefetches; two do not.
template <typename Weight>
constexpr int panels_at_once(int height) {
    const int room = max_sums / (height * panel_vectors * registers_of_sum<Weight>);
    return room < 3 ? 1 : std::min(room, max_panels_at_once);
}

/// Sums of a tile are stored for the epilogue in rows of 32, of one panel.
struct TileSums {
    alignas(64) float row[tile_height][32];
};

/// Operands of a tile, and its prefetches: `ahead_step` elements further at each k. A tile with `switches_prefetch`
/// prefetches from `next_panel` on, beginning at step `switch_step`.
template <typename Weight>
struct TileSource {
    const float* x;
    std::int64_t x_stride;
    const Weight* panel;
    std::int64_t depth;
    const Weight* ahead;
    std::int64_t ahead_step;
    bool adds = false;  ///< adds to the sums in memory; the first step of k is then a multiple of sum_block
    std::int64_t switch_step = 0;
    const Weight* next_panel = nullptr;
    const QuantizedGroup* quantized = nullptr;  ///< x for tiles of integers, `quantized_stride` groups a row
    std::int64_t quantized_stride = 0;
};

/// Computes `height` rows times the first `vectors` vectors of each row of `panels` consecutive panels, and prefetches
/// `lines` cache lines at each k. The sums of the next panel are a TileSums further in memory.
template <typename Weight, int height, int panels, int vectors, int lines, bool switches_prefetch = false>
__attribute__((noinline)) void compute_tile(const TileSource<Weight>& source, float* sums) noexcept {
    // One pointer per three rows: addressing modes reach the base plus once or twice the row stride.
    const float* base[(height + 2) / 3];
    for (int i = 0; i < (height + 2) / 3; ++i) base[i] = source.x + 3 * i * source.x_stride;
    const std::int64_t stride = source.x_stride;
    const Weight* panel[panels];
    for (int p = 0; p < panels; ++p) panel[p] = source.panel + p * source.depth * 32;
    const Weight* ahead = source.ahead;
    std::int64_t k = 0;
    do {
        const std::int64_t end = std::min(k + sum_block, source.depth);
        const bool adds = source.adds || k > 0;
        F32 sum[panels][height][vectors];
#pragma GCC unroll 4
        for (int p = 0; p < panels; ++p)
#pragma GCC unroll 14
            for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
                for (int j = 0; j < vectors; ++j) sum[p][i][j] = F32{};
        for (; k < end; ++k) {
            if constexpr (lines > 0) __builtin_prefetch(ahead, 0, 3);
            if constexpr (lines > 1) __builtin_prefetch(ahead + 64 / sizeof(Weight), 0, 3);
            if constexpr (lines > 0) ahead += source.ahead_step;
            if constexpr (switches_prefetch) ahead = k + 1 == source.switch_step ? source.next_panel : ahead;
            const auto left = [&](int i) __attribute__((always_inline)) { return splat(base[i / 3][i % 3 * stride]); };
            if constexpr (height < vectors * panels) {
                // A wide tile keeps the broadcasts of its rows in registers, a tall one its vectors of w; the other
                // operand needs one register.
                F32 lefts[height];
#pragma GCC unroll 14
                for (int i = 0; i < height; ++i) lefts[i] = left(i);
#pragma GCC unroll 4
                for (int p = 0; p < panels; ++p)
#pragma GCC unroll 8
                    for (int j = 0; j < vectors; ++j) {
                        const F32 right = load(panel[p] + j * lanes);
#pragma GCC unroll 14
                        for (int i = 0; i < height; ++i) multiply_add(sum[p][i][j], lefts[i], right);
                    }
            } else {
                F32 rights[panels * vectors];
#pragma GCC unroll 8
                for (int j = 0; j < panels * vectors; ++j) rights[j] = load(panel[j / vectors] + j % vectors * lanes);
#pragma GCC unroll 14
                for (int i = 0; i < height; ++i) {
                    const F32 value = left(i);
#pragma GCC unroll 8
                    for (int j = 0; j < panels * vectors; ++j)
                        multiply_add(sum[j / vectors][i][j % vectors], value, rights[j]);
                }
            }
#pragma GCC unroll 4
            for (int p = 0; p < panels; ++p) panel[p] += 32;
#pragma GCC unroll 5
            for (int i = 0; i < (height + 2) / 3; ++i) base[i] = in_one_register(base[i] + 1);
        }
#pragma GCC unroll 4
        for (int p = 0; p < panels; ++p)
#pragma GCC unroll 14
            for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
                for (int j = 0; j < vectors; ++j) {
                    float* const to = sums + (p * tile_height + i) * 32 + j * lanes;
                    store(to, adds ? sum[p][i][j] + load(to) : sum[p][i][j]);
                }
    } while (k < source.depth);
}

template <typename Weight>
using TileFunction = void (*)(const TileSource<Weight>& source, float* sums) noexcept;

/// Cache lines of a row of a panel.
template <typename Weight>
inline constexpr int row_lines = 32 * sizeof(Weight) / 64;

/// Tiles by height - 1: of whole panels, several side by side and a single one; and of a group of columns.
template <typename Weight, int... heights>
constexpr std::array<TileFunction<Weight>, sizeof...(heights)> side_by_side(std::integer_sequence<int, heights...>) {
    return {compute_tile < Weight, heights + 1, panels_at_once<Weight>(heights + 1), panel_vectors,
            panels_at_once<Weight>(heights + 1) == 1 ? row_lines<Weight> : 0 > ...};
}
template <typename Weight, int vectors, int lines, bool switches_prefetch, int... heights>
constexpr std::array<TileFunction<Weight>, sizeof...(heights)> tiles(std::integer_sequence<int, heights...>) {
    return {compute_tile<Weight, heights + 1, 1, vectors, lines, switches_prefetch>...};
}
template <typename Weight>
inline constexpr auto side_tiles = side_by_side<Weight>(std::make_integer_sequence<int, whole_height>());
template <typename Weight>
inline constexpr auto whole_tiles =
    tiles<Weight, panel_vectors, row_lines<Weight>, true>(std::make_integer_sequence<int, whole_height>());
template <typename Weight>
inline constexpr auto group_tiles =
    tiles<Weight, group_vectors, 1, false>(std::make_integer_sequence<int, tile_height>());

}  // namespace CAIRN_LEVEL
