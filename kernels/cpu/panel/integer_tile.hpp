#pragma once

#include "kernels/cpu/panel/code_tile.hpp"

/// The micro-kernels of products of panels of codes with rows of x in 16 bits (QuantizedGroup): the codes of a group
/// are multiplied as 16-bit integers, and their exact sum is scaled to a float.
namespace CAIRN_LEVEL {

/// Weight type of the tiles of 16-bit pairs: one byte of a panel of codes.
template <int layout>
struct IntegerCode : Code<layout> {};

template <int layout>
inline constexpr std::int64_t panel_row<IntegerCode<layout>> = panel_row<Code<layout>>;
template <int layout>
inline constexpr int registers_of_sum<IntegerCode<layout>> = 2;
// Sums of more rows do not fit into registers.
template <int layout>
inline constexpr int few_rows<IntegerCode<layout>> =
    std::max(std::min(few_rows<Code<layout>>, max_sums / (2 * panel_vectors)), 1);

/// The codes of two steps of k in each word of a row, as pairs of 16-bit integers.
template <typename Weight>
struct CodePairs {
    using I16 = std::int16_t __attribute__((vector_size(4 * lanes)));
    using U16 = std::uint16_t __attribute__((vector_size(4 * lanes)));
    static constexpr CodeFormat format = Weight::format;
    static constexpr int in_word = format.in_word() / 2;  ///< pairs
    /// Added to signed codes of 4 bits, since their sign is costly to extend.
    static constexpr int bias = format.bits == 4 && format.is_signed ? 8 : 0;
    I32 words;

    explicit CodePairs(I32 codes) noexcept : words(codes) {
        if constexpr (bias != 0) words ^= splat(std::bit_cast<std::int32_t>(0x88888888U));
    }
    /// Steps 2 pair and 2 pair + 1.
    CAIRN_INLINE I32 at(int pair) const {
        const int first = pair * format.bits;
        if constexpr (format.bits == 8) {
            const U16 high = std::bit_cast<U16>(words) << (8 - first);
            return std::bit_cast<I32>(std::bit_cast<I16>(high) >> 8);
        }
        const U16 low = std::bit_cast<U16>(words) >> first;
        return std::bit_cast<I32>(first < 12 ? low & 15 : low);
    }
};

/// Computes `height` rows times `panels` consecutive panels of codes, as compute_code_tile does for rows of floats.
template <typename Weight, int height, int panels, bool prefetches>
__attribute__((noinline)) void compute_integer_tile(const TileSource<Weight>& source, float* sums) noexcept {
    using Group = CodeGroup<Weight>;
    using Pairs = CodePairs<Weight>;
    constexpr std::int64_t group_size = sizeof(QuantizedGroup), pair_bytes = 4;
    // One pointer per three rows, as in compute_tile; they pass the codes of a group of x, then the rest of it.
    const std::int64_t stride = source.quantized_stride * group_size;
    const std::byte* base[(height + 2) / 3];
    for (int i = 0; i < (height + 2) / 3; ++i)
        base[i] = reinterpret_cast<const std::byte*>(source.quantized) + 3 * i * stride;
    const Weight* ahead = source.ahead;
    Group panel[panels];
    for (int p = 0; p < panels; ++p) panel[p].data = source.panel + p * source.depth * panel_row<Weight>;
    F32 total[panels][height][panel_vectors];
#pragma GCC unroll 4
    for (int p = 0; p < panels; ++p)
#pragma GCC unroll 14
        for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
            for (int j = 0; j < panel_vectors; ++j) total[p][i][j] = F32{};
    for (std::int64_t group = 0; group < source.depth / Group::depth; ++group) {
        const std::int64_t first_step = group * Group::depth;
        const QuantizedGroup* const x = source.quantized + first_step / 32;
        I32 sum[panels][height][panel_vectors];
#pragma GCC unroll 14
        for (int i = 0; i < height; ++i) {
            I32 first{};
            if constexpr (Pairs::bias != 0)
                first = splat(-Pairs::bias *
                              sum_of_group<Group::depth>(x[i * source.quantized_stride].integer_sums, first_step));
#pragma GCC unroll 4
            for (int p = 0; p < panels; ++p)
#pragma GCC unroll 8
                for (int j = 0; j < panel_vectors; ++j) sum[p][i][j] = first;
        }
        for (std::int64_t row = 0; row < Group::words; ++row) {
            if constexpr (prefetches) {
                __builtin_prefetch(ahead, 0, 3);
                __builtin_prefetch(ahead + 64, 0, 3);
                ahead += source.ahead_step * Group::in_word;
                const std::int64_t next = group * Group::words + row + 1;
                ahead = next == source.switch_step / Group::in_word ? source.next_panel : ahead;
            } else if constexpr (Group::format.bits == 4) {
                // Codes of 8 bits are read faster than memory delivers them.
#pragma GCC unroll 4
                for (int p = 0; p < panels; ++p)
                    prefetch_group(panel[p], row, (group + 2) * Group::depth >= source.depth, panels,
                                   source.depth * panel_row<Weight>);
            }
            const auto left = [&](int i, int pair) __attribute__((always_inline)) {
                std::int32_t codes;
                std::memcpy(&codes, base[i / 3] + i % 3 * stride + pair * pair_bytes, sizeof codes);
                return splat(codes);
            };
#pragma GCC unroll 16
            for (int v = 0; v < panels * panel_vectors; ++v) {
                const Pairs codes(panel[v / panel_vectors].words_at(row, v % panel_vectors));
#pragma GCC unroll 4
                for (int pair = 0; pair < Pairs::in_word; ++pair) {
                    const I32 right = codes.at(pair);
#pragma GCC unroll 14
                    for (int i = 0; i < height; ++i)
                        dot_i16(sum[v / panel_vectors][i][v % panel_vectors], right, left(i, pair));
                }
            }
#pragma GCC unroll 5
            for (int i = 0; i < (height + 2) / 3; ++i) base[i] = in_one_register(base[i] + Pairs::in_word * pair_bytes);
        }
        if ((group + 1) * Group::depth % 32 == 0)
            for (int i = 0; i < (height + 2) / 3; ++i) base[i] += group_size - 32 * 2;
#pragma GCC unroll 14
        for (int i = 0; i < height; ++i) {
            const QuantizedGroup& of_row = x[i * source.quantized_stride];
            const F32 scale = splat(of_row.scale);
#pragma GCC unroll 4
            for (int p = 0; p < panels; ++p)
#pragma GCC unroll 8
                for (int j = 0; j < panel_vectors; ++j) {
                    multiply_add(total[p][i][j], to_float(sum[p][i][j]), scale * panel[p].scale(j));
                    if constexpr (Group::format.has_offsets)
                        multiply_add(total[p][i][j], splat(sum_of_group<Group::depth>(of_row.sums, first_step)),
                                     panel[p].offset(j));
                }
        }
        for (int p = 0; p < panels; ++p) panel[p].data += Group::bytes;
    }
    store_sums<height, panels>(source, total, sums);
}

template <typename Weight, int... heights>
constexpr std::array<TileFunction<Weight>, sizeof...(heights)> integer_tiles_side_by_side(
    std::integer_sequence<int, heights...>) {
    return {compute_integer_tile<Weight, heights + 1, panels_at_once<Weight>(heights + 1),
                                 panels_at_once<Weight>(heights + 1) == 1>...};
}
template <typename Weight, int... heights>
constexpr std::array<TileFunction<Weight>, sizeof...(heights)> integer_tiles(std::integer_sequence<int, heights...>) {
    return {compute_integer_tile<Weight, heights + 1, 1, true>...};
}
template <int layout>
inline constexpr auto side_tiles<IntegerCode<layout>> =
    integer_tiles_side_by_side<IntegerCode<layout>>(std::make_integer_sequence<int, few_rows<IntegerCode<layout>>>());
template <int layout>
inline constexpr auto whole_tiles<IntegerCode<layout>> =
    integer_tiles<IntegerCode<layout>>(std::make_integer_sequence<int, few_rows<IntegerCode<layout>>>());

}  // namespace CAIRN_LEVEL
