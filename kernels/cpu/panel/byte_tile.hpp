#pragma once

#include "kernels/cpu/panel/code_tile.hpp"

/// The micro-kernel of products of panels of codes with rows of x in one or two digits of 8 bits, for levels that
/// multiply four pairs of bytes at once (VNNI). The codes of a group are multiplied as they are, and the exact sum of
/// each digit is scaled to a float.
namespace CAIRN_LEVEL {

/// Weight type of the byte tiles: one byte of a panel of codes. x has `digit_count` digits of 8 bits.
template <int layout, int digit_count>
struct ByteCode : Code<layout> {
    static constexpr int digits = digit_count;
};

template <int layout, int digits>
inline constexpr std::int64_t panel_row<ByteCode<layout, digits>> = panel_row<Code<layout>>;
template <int layout, int digits>
inline constexpr int registers_of_sum<ByteCode<layout, digits>> = 1 + digits;
// Sums of more rows do not fit into registers. The loop over a group of 16 is unrolled, which takes four more.
template <int layout, int digits>
inline constexpr int few_rows<ByteCode<layout, digits>> = (max_sums - (Code<layout>::format.group == 16 ? 4 : 0)) /
                                                          ((1 + digits) * panel_vectors);
template <int layout, int digits>
inline constexpr int block_height<ByteCode<layout, digits>> = few_rows<ByteCode<layout, digits>>;
static_assert(group_vectors >= panel_vectors, "tiles of a block span whole panels");

/// The codes in a row of words as quads of unsigned bytes: four steps of k, or those in the low and the high halves of
/// bytes.
template <typename Weight>
struct CodeQuads {
    static constexpr CodeFormat format = Weight::format;
    static constexpr int in_word = format.in_word() / 4;  ///< quads
    /// Added to signed codes.
    static constexpr int bias = format.is_signed ? 1 << (format.bits - 1) : 0;
    I32 words;

    explicit CodeQuads(I32 codes) noexcept : words(codes) {
        if constexpr (bias != 0)
            words ^= splat(std::bit_cast<std::int32_t>(format.bits == 8 ? 0x80808080U : 0x88888888U));
    }
    CAIRN_INLINE I32 at(int quad) const {
        if constexpr (format.bits == 8) return words;
        return (quad == 0 ? words : std::bit_cast<I32>(std::bit_cast<U32>(words) >> 4)) & 0x0f0f0f0f;
    }
};

/// Computes `height` rows times `panels` consecutive panels of codes, as compute_code_tile does for rows of floats, or
/// a part of their depth; prefetches `lines` cache lines for each row of words.
template <typename Weight, int height, int panels, int lines>
__attribute__((noinline)) void compute_byte_tile(const TileSource<Weight>& source, float* sums) noexcept {
    using Group = CodeGroup<Weight>;
    using Quads = CodeQuads<Weight>;
    constexpr int digits = Weight::digits;
    constexpr std::int64_t group_size = sizeof(QuantizedGroup), quad_bytes = 4, digit_bytes = 32;
    // One pointer per three rows, as in compute_tile; they pass the integers of a group of x, then the rest of it.
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
        I32 sum[digits][panels][height][panel_vectors];
#pragma GCC unroll 2
        for (int d = 0; d < digits; ++d)
#pragma GCC unroll 4
            for (int p = 0; p < panels; ++p)
#pragma GCC unroll 14
                for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
                    for (int j = 0; j < panel_vectors; ++j) sum[d][p][i][j] = I32{};
        const auto add_row = [&](std::int64_t row) __attribute__((always_inline)) {
#pragma GCC unroll 2
            for (int line = 0; line < lines; ++line) __builtin_prefetch(ahead + line * 64, 0, 3);
            if constexpr (lines > 0) {
                ahead += source.ahead_step * Group::in_word;
                const std::int64_t next = group * Group::words + row + 1;
                ahead = next == source.switch_step / Group::in_word ? source.next_panel : ahead;
            }
#pragma GCC unroll 4
            for (int quad = 0; quad < Quads::in_word; ++quad) {
                const auto left = [&](int i, int d) __attribute__((always_inline)) {
                    std::int32_t of_row;
                    std::memcpy(&of_row, base[i / 3] + i % 3 * stride + d * digit_bytes + quad * quad_bytes,
                                sizeof of_row);
                    return splat(of_row);
                };
                const auto codes_of = [&](int v) __attribute__((always_inline)) {
                    return Quads(panel[v / panel_vectors].words_at(row, v % panel_vectors)).at(quad);
                };
                if constexpr (height * digits < panel_vectors * panels) {
                    // A wide tile keeps the broadcasts of its rows in registers, a tall one its codes.
                    I32 lefts[height][digits];
#pragma GCC unroll 14
                    for (int i = 0; i < height; ++i)
#pragma GCC unroll 2
                        for (int d = 0; d < digits; ++d) lefts[i][d] = left(i, d);
#pragma GCC unroll 16
                    for (int v = 0; v < panels * panel_vectors; ++v) {
                        const I32 codes = codes_of(v);
#pragma GCC unroll 14
                        for (int i = 0; i < height; ++i)
#pragma GCC unroll 2
                            for (int d = 0; d < digits; ++d)
                                dot_u8_i8(sum[d][v / panel_vectors][i][v % panel_vectors], codes, lefts[i][d]);
                    }
                } else {
                    I32 codes[panels * panel_vectors];
#pragma GCC unroll 16
                    for (int v = 0; v < panels * panel_vectors; ++v) codes[v] = codes_of(v);
#pragma GCC unroll 14
                    for (int i = 0; i < height; ++i)
#pragma GCC unroll 2
                        for (int d = 0; d < digits; ++d) {
                            const I32 of_row = left(i, d);
#pragma GCC unroll 16
                            for (int v = 0; v < panels * panel_vectors; ++v)
                                dot_u8_i8(sum[d][v / panel_vectors][i][v % panel_vectors], codes[v], of_row);
                        }
                }
            }
#pragma GCC unroll 5
            for (int i = 0; i < (height + 2) / 3; ++i) base[i] = in_one_register(base[i] + Quads::in_word * quad_bytes);
        };
        if constexpr (Group::depth == 16) {
#pragma GCC unroll 4
            for (std::int64_t row = 0; row < Group::words; ++row) add_row(row);
        } else {
            // Unrolled, it spills registers.
#pragma GCC unroll 1
            for (std::int64_t row = 0; row < Group::words; ++row) add_row(row);
        }
        if ((group + 1) * Group::depth % 32 == 0)
            for (int i = 0; i < (height + 2) / 3; ++i) base[i] += group_size - digit_bytes;
        const std::int64_t first = group * Group::depth;
#pragma GCC unroll 14
        for (int i = 0; i < height; ++i) {
            const QuantizedGroup& of_row = source.quantized[i * source.quantized_stride + first / 32];
            const F32 scale = splat(of_row.scale);
            const I32 biased = splat(Quads::bias * sum_of_group<Group::depth>(of_row.integer_sums, first));
#pragma GCC unroll 4
            for (int p = 0; p < panels; ++p)
#pragma GCC unroll 8
                for (int j = 0; j < panel_vectors; ++j) {
                    I32 all = sum[0][p][i][j];
                    if constexpr (digits == 2) all = (all << 8) + sum[1][p][i][j];
                    if constexpr (Quads::bias != 0) all -= biased;
                    multiply_add(total[p][i][j], to_float(all), scale * panel[p].scale(j));
                    if constexpr (Group::format.has_offsets)
                        multiply_add(total[p][i][j], splat(sum_of_group<Group::depth>(of_row.sums, first)),
                                     panel[p].offset(j));
                }
        }
        for (int p = 0; p < panels; ++p) panel[p].data += Group::bytes;
    }
    TileSums part[panels];
    float* const to = source.adds ? part[0].row[0] : sums;
    store_sums<height, panels>(source, total, to);
    for (std::int64_t i = 0; source.adds && i < height * panel_width; ++i) sums[i] += to[i];
}

template <typename Weight, int... heights>
constexpr std::array<TileFunction<Weight>, sizeof...(heights)> byte_tiles_side_by_side(
    std::integer_sequence<int, heights...>) {
    return {compute_byte_tile < Weight, heights + 1, panels_at_once<Weight>(heights + 1),
            panels_at_once<Weight>(heights + 1) == 1 ? 2 : 0 > ...};
}
template <typename Weight, int lines, int... heights>
constexpr std::array<TileFunction<Weight>, sizeof...(heights)> byte_tiles(std::integer_sequence<int, heights...>) {
    return {compute_byte_tile<Weight, heights + 1, 1, lines>...};
}
template <int layout, int digits>
inline constexpr auto side_tiles<ByteCode<layout, digits>> = byte_tiles_side_by_side<ByteCode<layout, digits>>(
    std::make_integer_sequence<int, few_rows<ByteCode<layout, digits>>>());
template <int layout, int digits>
inline constexpr auto whole_tiles<ByteCode<layout, digits>> =
    byte_tiles<ByteCode<layout, digits>, 2>(std::make_integer_sequence<int, few_rows<ByteCode<layout, digits>>>());
template <int layout, int digits>
inline constexpr auto group_tiles<ByteCode<layout, digits>> =
    byte_tiles<ByteCode<layout, digits>, 1>(std::make_integer_sequence<int, few_rows<ByteCode<layout, digits>>>());

}  // namespace CAIRN_LEVEL
