#pragma once

#include "kernels/cpu/panel/code_format.hpp"
#include "kernels/cpu/panel/linear_plan.hpp"
#include "kernels/cpu/panel/tile.hpp"
#include "kernels/cpu/simd/vector/horizontal_reduction.hpp"

#include <cstddef>
#include <utility>

/// The micro-kernels of products with panels of codes (code_format.hpp). For few rows of x the codes of a group are
/// multiplied as they are, and the sum takes the scale and the offset of its column; for many rows a part of a panel is
/// widened to floats once, and the tiles of floats read it.
namespace CAIRN_LEVEL {

/// A byte of a panel of codes in memory.
template <int layout>
struct Code {
    static constexpr CodeFormat format = code_layouts[layout].format;
    std::uint8_t byte;
};

template <int layout>
inline constexpr std::int64_t panel_row<Code<layout>> = Code<layout>::format.row_bytes();
// With more rows it is faster to widen a panel once than to convert its codes for each tile.
template <int layout>
inline constexpr int few_rows<Code<layout>> = std::min(whole_height, static_cast<int>(PanelPlan::few_rows_of_codes));

/// One group of a panel.
template <typename Weight>
struct CodeGroup {
    static constexpr CodeFormat format = Weight::format;
    static constexpr std::int64_t depth = format.group, bytes = format.group_bytes();
    /// Codes of one byte, which are as many steps of k.
    static constexpr std::int64_t in_byte = 8 / format.bits, bytes_of_column = depth / in_byte;
    const Weight* data;

    F32 scale(int vector) const {
        if constexpr (format.has_half_scales)
            return load(reinterpret_cast<const F16*>(data) + vector * lanes);
        else
            return load(reinterpret_cast<const float*>(data) + vector * lanes);
    }
    F32 offset(int vector) const {
        return load(reinterpret_cast<const float*>(data + format.scale_bytes()) + vector * lanes);
    }
    /// The codes in the bytes at `row`, which are those of k = row and, of 4 bits, of k = row + bytes_of_column; the
    /// zero is not subtracted.
    void load_codes(std::int64_t row, int vector, F32 (&codes)[in_byte]) const {
        const Weight* const at = data + format.head_bytes() + row * panel_width + vector * lanes;
        if constexpr (in_byte == 1) {
            I8Lanes bytes;
            std::memcpy(&bytes, at, sizeof bytes);
            codes[0] = to_float(from_bytes(bytes));
        } else {
            U8Lanes bytes;
            std::memcpy(&bytes, at, sizeof bytes);
            const I32 pairs = from_bytes(bytes);
            codes[0] = to_float(pairs & 15);
            codes[1] = to_float(pairs >> 4);
        }
    }
};

/// Adds the sums of a group to those of a tile. Sums that are not finite are computed again with each weight widened on
/// its own: a sum of codes may overflow, or a scale be infinite.
template <int height, int panels, typename Weight>
__attribute__((noinline, cold)) void add_special_sums(const TileSource<Weight>& source, std::int64_t group,
                                                      const float (&parts)[panels][height][panel_width],
                                                      float* sums) noexcept {
    using Group = CodeGroup<Weight>;
    for (int p = 0; p < panels; ++p) {
        const Weight* const codes = source.panel + p * source.depth * panel_row<Weight> + group * Group::bytes;
        for (int i = 0; i < height; ++i)
            for (std::int64_t n = 0; n < panel_width; ++n) {
                float part = parts[p][i][n];
                if (!(part - part == 0)) {
                    const float* const x = source.x + i * source.x_stride + group * Group::depth;
                    const CodeColumn column(Group::format, reinterpret_cast<const std::byte*>(codes), n);
                    part = 0;
                    for (std::int64_t k = 0; k < Group::depth; ++k) part += x[k] * column.element(k);
                }
                sums[(p * tile_height + i) * panel_width + n] += part;
            }
    }
}

/// Computes `height` rows times `panels` consecutive panels of codes, as compute_tile does for panels of floats.
template <typename Weight, int height, int panels, bool prefetches>
__attribute__((noinline)) void compute_code_tile(const TileSource<Weight>& source, float* sums) noexcept {
    using Group = CodeGroup<Weight>;
    // One pointer per three rows: addressing modes reach the base plus once or twice the row stride.
    const float* base[(height + 2) / 3];
    for (int i = 0; i < (height + 2) / 3; ++i) base[i] = source.x + 3 * i * source.x_stride;
    const std::int64_t stride = source.x_stride;
    const Weight* ahead = source.ahead;
    Group panel[panels];
    for (int p = 0; p < panels; ++p) panel[p].data = source.panel + p * source.depth * panel_row<Weight>;
    const auto sums_at = [&](int p, int i, int j) { return sums + (p * tile_height + i) * panel_width + j * lanes; };
    for (int p = 0; p < panels; ++p)
        for (int i = 0; i < height; ++i)
            for (int j = 0; j < panel_vectors; ++j) store(sums_at(p, i, j), F32{});
    for (std::int64_t group = 0; group < source.depth / Group::depth; ++group) {
        F32 sum[panels][height][panel_vectors];
#pragma GCC unroll 4
        for (int p = 0; p < panels; ++p)
#pragma GCC unroll 14
            for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
                for (int j = 0; j < panel_vectors; ++j) sum[p][i][j] = F32{};
        for (std::int64_t row = 0; row < Group::bytes_of_column; ++row) {
            if constexpr (prefetches) {
                __builtin_prefetch(ahead, 0, 3);
                ahead += source.ahead_step * Group::in_byte;
                const std::int64_t k = group * Group::depth + (row + 1) * Group::in_byte;
                ahead = k / Group::in_byte == source.switch_step / Group::in_byte ? source.next_panel : ahead;
            }
            const auto left = [&](int half, int i) __attribute__((always_inline)) {
                return splat(base[i / 3][i % 3 * stride + half * Group::bytes_of_column]);
            };
            F32 rights[panels * panel_vectors][Group::in_byte];
            if constexpr (height < panel_vectors * panels) {
                // A wide tile keeps the broadcasts of its rows in registers, a tall one its codes.
                F32 lefts[Group::in_byte][height];
#pragma GCC unroll 2
                for (int half = 0; half < Group::in_byte; ++half)
#pragma GCC unroll 14
                    for (int i = 0; i < height; ++i) lefts[half][i] = left(half, i);
#pragma GCC unroll 16
                for (int v = 0; v < panels * panel_vectors; ++v) {
                    panel[v / panel_vectors].load_codes(row, v % panel_vectors, rights[v]);
#pragma GCC unroll 2
                    for (int half = 0; half < Group::in_byte; ++half)
#pragma GCC unroll 14
                        for (int i = 0; i < height; ++i)
                            multiply_add(sum[v / panel_vectors][i][v % panel_vectors], lefts[half][i], rights[v][half]);
                }
            } else {
#pragma GCC unroll 16
                for (int v = 0; v < panels * panel_vectors; ++v)
                    panel[v / panel_vectors].load_codes(row, v % panel_vectors, rights[v]);
#pragma GCC unroll 2
                for (int half = 0; half < Group::in_byte; ++half)
#pragma GCC unroll 14
                    for (int i = 0; i < height; ++i) {
                        const F32 value = left(half, i);
#pragma GCC unroll 16
                        for (int v = 0; v < panels * panel_vectors; ++v)
                            multiply_add(sum[v / panel_vectors][i][v % panel_vectors], value, rights[v][half]);
                    }
            }
#pragma GCC unroll 5
            for (int i = 0; i < (height + 2) / 3; ++i) base[i] = in_one_register(base[i] + 1);
        }
        for (int i = 0; i < (height + 2) / 3; ++i) base[i] += Group::depth - Group::bytes_of_column;
        I32 special{};
#pragma GCC unroll 14
        for (int i = 0; i < height; ++i) {
            F32 row_sum{};
            if constexpr (Group::format.has_offsets || Group::format.zero != 0) {
                const float* const x = source.x + i * stride + group * Group::depth;
                for (std::int64_t k = 0; k < Group::depth; k += lanes) row_sum += load(x + k);
                row_sum = splat(reduce_lanes(row_sum, [](auto a, auto b) { return a + b; }));
            }
#pragma GCC unroll 4
            for (int p = 0; p < panels; ++p)
#pragma GCC unroll 8
                for (int j = 0; j < panel_vectors; ++j) {
                    // The zero of all codes is subtracted at once.
                    if constexpr (Group::format.zero != 0)
                        sum[p][i][j] -= row_sum * static_cast<float>(Group::format.zero);
                    sum[p][i][j] *= panel[p].scale(j);
                    if constexpr (Group::format.has_offsets) multiply_add(sum[p][i][j], row_sum, panel[p].offset(j));
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
        for (int p = 0; p < panels; ++p) panel[p].data += Group::bytes;
    }
}

template <typename Weight, int... heights>
constexpr std::array<TileFunction<Weight>, sizeof...(heights)> code_tiles_side_by_side(
    std::integer_sequence<int, heights...>) {
    return {compute_code_tile<Weight, heights + 1, panels_at_once(heights + 1), panels_at_once(heights + 1) == 1>...};
}
template <typename Weight, int... heights>
constexpr std::array<TileFunction<Weight>, sizeof...(heights)> code_tiles(std::integer_sequence<int, heights...>) {
    return {compute_code_tile<Weight, heights + 1, 1, true>...};
}
template <int layout>
inline constexpr auto side_tiles<Code<layout>> =
    code_tiles_side_by_side<Code<layout>>(std::make_integer_sequence<int, few_rows<Code<layout>>>());
template <int layout>
inline constexpr auto whole_tiles<Code<layout>> =
    code_tiles<Code<layout>>(std::make_integer_sequence<int, few_rows<Code<layout>>>());

/// Widens `depth` steps of k, whole groups, to a panel of floats.
template <typename Weight>
void widen_codes(const Weight* from, std::int64_t depth, float* to) noexcept {
    using Group = CodeGroup<Weight>;
    for (std::int64_t left = depth; left > 0; left -= Group::depth, from += Group::bytes) {
        const Group group{from};
        F32 scales[panel_vectors], offsets[panel_vectors];
        for (int j = 0; j < panel_vectors; ++j) {
            scales[j] = group.scale(j);
            if constexpr (Group::format.has_offsets) offsets[j] = group.offset(j);
        }
        for (std::int64_t row = 0; row < Group::bytes_of_column; ++row)
            for (int j = 0; j < panel_vectors; ++j) {
                F32 codes[Group::in_byte];
                group.load_codes(row, j, codes);
                for (int half = 0; half < Group::in_byte; ++half) {
                    F32 weights = (codes[half] - static_cast<float>(Group::format.zero)) * scales[j];
                    if constexpr (Group::format.has_offsets) weights += offsets[j];
                    store(to + (half * Group::bytes_of_column + row) * panel_width + j * lanes, weights);
                }
            }
        to += Group::depth * panel_width;
    }
}

/// Calls f with an element of the panels of a code layout.
template <typename F, int... layouts>
CAIRN_INLINE void with_code(int layout, F f, std::integer_sequence<int, layouts...>) {
    (void)((layout == layouts && (f(Code<layouts>()), true)) || ...);
}
template <typename F>
CAIRN_INLINE void with_code(int layout, F f) {
    with_code(layout, f, std::make_integer_sequence<int, static_cast<int>(code_layouts.size())>());
}

}  // namespace CAIRN_LEVEL
