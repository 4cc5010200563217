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
    static constexpr std::int64_t in_word = format.in_word(), words = depth / in_word;
    /// What numbers_of() multiplies codes by: a signed code is taken as the highest bits of an integer.
    static constexpr float factor = format.is_signed ? static_cast<float>(1U << (32 - format.bits)) : 1;
    const Weight* data;

    F32 scale(int vector) const {
        if constexpr (format.scales == DType::f16)
            return load(reinterpret_cast<const F16*>(data) + vector * lanes);
        else if constexpr (format.scales == DType::bf16)
            return load(reinterpret_cast<const BF16*>(data) + vector * lanes);
        else
            return load(reinterpret_cast<const float*>(data) + vector * lanes);
    }
    F32 offset(int vector) const {
        return load(reinterpret_cast<const float*>(data + format.scale_bytes()) + vector * lanes);
    }
    /// The codes of steps [row * in_word, (row + 1) * in_word) of k.
    I32 words_at(std::int64_t row, int vector) const {
        const Weight* const at = data + format.head_bytes() + (row * panel_width + vector * lanes) * 4;
        return load(reinterpret_cast<const std::int32_t*>(at));
    }
    /// `factor` times the codes of one step of k in their words.
    CAIRN_INLINE static F32 numbers_of(I32 words, int step) {
        constexpr int unused = 32 - format.bits;
        const int first = format.first_bit(step);
        if constexpr (format.is_signed) {
            const U32 high = std::bit_cast<U32>(words) << (unused - first);
            return to_float(std::bit_cast<I32>(first > 0 ? high & ~((1U << unused) - 1) : high));
        }
        const U32 low = std::bit_cast<U32>(words) >> first;
        return to_float(std::bit_cast<I32>(first < unused ? low & ((1U << format.bits) - 1) : low));
    }
};

/// Prefetches a share of the group after the next one of each of several panels side by side, for each row of words:
/// few codes are in flight while their numbers are computed. At the end of panels, of the first groups of those after
/// them.
template <typename Weight>
CAIRN_INLINE void prefetch_group(const CodeGroup<Weight>& group, std::int64_t row, bool is_near_end, int panels,
                                 std::int64_t panel_bytes) {
    using Group = CodeGroup<Weight>;
    constexpr std::int64_t line = 64, share = Group::bytes / Group::words, lines = (share + line / 2) / line;
    const Weight* const ahead = group.data + 2 * Group::bytes + (is_near_end ? (panels - 1) * panel_bytes : 0);
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < lines; ++i) __builtin_prefetch(ahead + row * share + i * line, 0, 3);
}

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

/// Adds the sums of a group in registers to those of a tile; `special`: true where one may not be finite.
template <int height, int panels, typename Weight>
CAIRN_INLINE void add_sums(const TileSource<Weight>& source, std::int64_t group,
                           const F32 (&parts)[panels][height][panel_vectors], I32 special, float* sums) noexcept {
    if (is_any_true(special)) {
        float stored[panels][height][panel_width];
        for (int p = 0; p < panels; ++p)
            for (int i = 0; i < height; ++i)
                for (int j = 0; j < panel_vectors; ++j) store(stored[p][i] + j * lanes, parts[p][i][j]);
        return add_special_sums<height, panels>(source, group, stored, sums);
    }
#pragma GCC unroll 4
    for (int p = 0; p < panels; ++p)
#pragma GCC unroll 14
        for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
            for (int j = 0; j < panel_vectors; ++j) {
                float* const to = sums + (p * tile_height + i) * panel_width + j * lanes;
                store(to, load(to) + parts[p][i][j]);
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
        for (std::int64_t row = 0; row < Group::words; ++row) {
            if constexpr (prefetches) {
                // A row of words is two cache lines.
                __builtin_prefetch(ahead, 0, 3);
                __builtin_prefetch(ahead + 64, 0, 3);
                ahead += source.ahead_step * Group::in_word;
                const std::int64_t next = group * Group::words + row + 1;
                ahead = next == source.switch_step / Group::in_word ? source.next_panel : ahead;
            } else {
#pragma GCC unroll 4
                for (int p = 0; p < panels; ++p)
                    prefetch_group(panel[p], row, (group + 2) * Group::depth >= source.depth, panels,
                                   source.depth * panel_row<Weight>);
            }
            I32 words[panels * panel_vectors];
#pragma GCC unroll 16
            for (int v = 0; v < panels * panel_vectors; ++v)
                words[v] = panel[v / panel_vectors].words_at(row, v % panel_vectors);
#pragma GCC unroll 8
            for (int step = 0; step < Group::in_word; ++step) {
                const auto left = [&](int i) __attribute__((always_inline)) {
                    return splat(base[i / 3][i % 3 * stride + step]);
                };
                if constexpr (height < panel_vectors * panels) {
                    // A wide tile keeps the broadcasts of its rows in registers, a tall one its codes.
                    F32 lefts[height];
#pragma GCC unroll 14
                    for (int i = 0; i < height; ++i) lefts[i] = left(i);
#pragma GCC unroll 16
                    for (int v = 0; v < panels * panel_vectors; ++v) {
                        const F32 right = Group::numbers_of(words[v], step);
#pragma GCC unroll 14
                        for (int i = 0; i < height; ++i)
                            multiply_add(sum[v / panel_vectors][i][v % panel_vectors], lefts[i], right);
                    }
                } else {
                    F32 rights[panels * panel_vectors];
#pragma GCC unroll 16
                    for (int v = 0; v < panels * panel_vectors; ++v) rights[v] = Group::numbers_of(words[v], step);
#pragma GCC unroll 14
                    for (int i = 0; i < height; ++i) {
                        const F32 value = left(i);
#pragma GCC unroll 16
                        for (int v = 0; v < panels * panel_vectors; ++v)
                            multiply_add(sum[v / panel_vectors][i][v % panel_vectors], value, rights[v]);
                    }
                }
            }
#pragma GCC unroll 5
            for (int i = 0; i < (height + 2) / 3; ++i) base[i] = in_one_register(base[i] + Group::in_word);
        }
        I32 special{};
#pragma GCC unroll 14
        for (int i = 0; i < height; ++i) {
            F32 row_sum{};
            if constexpr (Group::format.has_offsets) {
                const float* const x = source.x + i * stride + group * Group::depth;
                for (std::int64_t k = 0; k < Group::depth; k += lanes) row_sum += load(x + k);
                row_sum = splat(reduce_lanes(row_sum, [](auto a, auto b) { return a + b; }));
            }
#pragma GCC unroll 4
            for (int p = 0; p < panels; ++p)
#pragma GCC unroll 8
                for (int j = 0; j < panel_vectors; ++j) {
                    sum[p][i][j] *= 1 / Group::factor;
                    sum[p][i][j] *= panel[p].scale(j);
                    if constexpr (Group::format.has_offsets) multiply_add(sum[p][i][j], row_sum, panel[p].offset(j));
                    special |= is_not_finite(sum[p][i][j]);
                }
        }
        add_sums<height, panels>(source, group, sum, special, sums);
        for (int p = 0; p < panels; ++p) panel[p].data += Group::bytes;
    }
}

/// Computes sums of a tile of integers that are not finite again with each weight on its own: a scale may be infinite.
template <int height, int panels, typename Weight>
__attribute__((noinline, cold)) void compute_special_sums(const TileSource<Weight>& source, float* sums) noexcept {
    using Group = CodeGroup<Weight>;
    for (int p = 0; p < panels; ++p)
        for (int i = 0; i < height; ++i)
            for (std::int64_t n = 0; n < panel_width; ++n) {
                float& sum = sums[(p * tile_height + i) * panel_width + n];
                if (sum - sum == 0) continue;
                sum = 0;
                const Weight* group = source.panel + p * source.depth * panel_row<Weight>;
                for (std::int64_t first = 0; first < source.depth; first += Group::depth, group += Group::bytes) {
                    const CodeColumn column(Group::format, reinterpret_cast<const std::byte*>(group), n);
                    for (std::int64_t k = 0; k < Group::depth; ++k)
                        sum += source.x[i * source.x_stride + first + k] * column.element(k);
                }
            }
}

/// Stores the sums of a tile of integers; computes those again that are not finite.
template <int height, int panels, typename Weight>
CAIRN_INLINE void store_sums(const TileSource<Weight>& source, const F32 (&total)[panels][height][panel_vectors],
                             float* sums) noexcept {
    I32 special{};
#pragma GCC unroll 4
    for (int p = 0; p < panels; ++p)
#pragma GCC unroll 14
        for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
            for (int j = 0; j < panel_vectors; ++j) {
                store(sums + (p * tile_height + i) * panel_width + j * lanes, total[p][i][j]);
                special |= is_not_finite(total[p][i][j]);
            }
    if (is_any_true(special)) compute_special_sums<height, panels>(source, sums);
}

/// The sum in a QuantizedGroup for the group of codes that begins at step `first` of k.
template <std::int64_t depth, typename T>
CAIRN_INLINE T sum_of_group(const T (&halves)[2], std::int64_t first) {
    return depth == 32 ? halves[0] + halves[1] : halves[first % 32 / 16];
}

template <typename Weight, int... heights>
constexpr std::array<TileFunction<Weight>, sizeof...(heights)> code_tiles_side_by_side(
    std::integer_sequence<int, heights...>) {
    return {compute_code_tile<Weight, heights + 1, panels_at_once<Weight>(heights + 1),
                              panels_at_once<Weight>(heights + 1) == 1>...};
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
        for (std::int64_t row = 0; row < Group::words; ++row)
            for (int j = 0; j < panel_vectors; ++j) {
                const I32 words = group.words_at(row, j);
#pragma GCC unroll 8
                for (int step = 0; step < Group::in_word; ++step) {
                    F32 weights = Group::numbers_of(words, step) * (1 / Group::factor) * scales[j];
                    if constexpr (Group::format.has_offsets) weights += offsets[j];
                    store(to + (row * Group::in_word + step) * panel_width + j * lanes, weights);
                }
            }
        to += Group::depth * panel_width;
    }
}

/// Calls f with an element of the panels of a code layout; does nothing if its codes have more than `most_bits` bits.
template <int most_bits, typename F, int... layouts>
CAIRN_INLINE void with_code(int layout, F f, std::integer_sequence<int, layouts...>) {
    const auto call = [&]<int at>(Code<at> code) __attribute__((always_inline)) {
        if constexpr (Code<at>::format.bits <= most_bits) f(code);
    };
    (void)((layout == layouts && (call(Code<layouts>()), true)) || ...);
}
template <int most_bits = 16, typename F>
CAIRN_INLINE void with_code(int layout, F f) {
    with_code<most_bits>(layout, f, std::make_integer_sequence<int, static_cast<int>(code_layouts.size())>());
}

}  // namespace CAIRN_LEVEL
