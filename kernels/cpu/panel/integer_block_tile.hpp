#pragma once

#include "kernels/cpu/panel/integer_tile.hpp"

/// The micro-kernels of products of panels of codes with many rows of x in 16 bits. A part of a panel is unpacked once
/// for a block of rows: for each group its scales, its offsets and its codes as pairs of 16-bit integers, in rows of 32
/// numbers of four bytes.
namespace CAIRN_LEVEL {

/// Weight type of the block tiles: one 4-byte element of an unpacked part.
template <int layout>
struct UnpackedCode {
    static constexpr CodeFormat format = code_layouts[layout].format;
    /// Rows of a group before its codes, and of it all.
    static constexpr std::int64_t head_rows = format.has_offsets ? 2 : 1, rows = head_rows + format.group / 2;
    std::int32_t number;
};

template <int layout>
inline constexpr int registers_of_sum<UnpackedCode<layout>> = 2;
template <int layout>
inline constexpr int block_height<UnpackedCode<layout>> = max_sums / (2 * group_vectors);

/// Unpacks `depth` steps of k, whole groups.
template <int layout>
void unpack_codes(const IntegerCode<layout>* from, std::int64_t depth, UnpackedCode<layout>* to) noexcept {
    using Group = CodeGroup<IntegerCode<layout>>;
    using Pairs = CodePairs<IntegerCode<layout>>;
    auto* row = reinterpret_cast<std::int32_t*>(to);
    const auto next_row = [&] { return std::exchange(row, row + panel_width); };
    for (std::int64_t left = depth; left > 0; left -= Group::depth, from += Group::bytes) {
        const Group group{from};
        std::int32_t* const scales = next_row();
        for (int j = 0; j < panel_vectors; ++j) store(scales + j * lanes, bits(group.scale(j)));
        if constexpr (Group::format.has_offsets) {
            std::int32_t* const offsets = next_row();
            for (int j = 0; j < panel_vectors; ++j) store(offsets + j * lanes, bits(group.offset(j)));
        }
        for (std::int64_t word = 0; word < Group::words; ++word) {
            for (int j = 0; j < panel_vectors; ++j) {
                const Pairs codes(group.words_at(word, j));
#pragma GCC unroll 4
                for (int pair = 0; pair < Pairs::in_word; ++pair)
                    store(row + pair * panel_width + j * lanes, codes.at(pair));
            }
            row += Pairs::in_word * panel_width;
        }
    }
}

/// Computes sums of a tile that are not finite again with each weight on its own.
template <int layout, int height>
__attribute__((noinline, cold)) void compute_special_block(const TileSource<UnpackedCode<layout>>& source,
                                                           float (&sums)[height][group_vectors * lanes]) noexcept {
    using Code = UnpackedCode<layout>;
    constexpr int bias = CodePairs<IntegerCode<layout>>::bias;
    for (int i = 0; i < height; ++i)
        for (std::int64_t n = 0; n < group_vectors * lanes; ++n) {
            float& sum = sums[i][n];
            if (sum - sum == 0) continue;
            sum = 0;
            for (std::int64_t k = 0; k < source.depth; ++k) {
                const Code* const group = source.panel + k / Code::format.group * Code::rows * panel_width;
                const auto number = [&](std::int64_t row) { return group[row * panel_width + n].number; };
                const std::int32_t pair = number(Code::head_rows + k % Code::format.group / 2);
                const int code = static_cast<std::int16_t>(k % 2 == 0 ? pair : pair >> 16) - bias;
                float weight = std::bit_cast<float>(number(0)) * static_cast<float>(code);
                if (Code::format.has_offsets) weight += std::bit_cast<float>(number(1));
                sum += source.x[i * source.x_stride + k] * weight;
            }
        }
}

/// Computes `height` rows times `group_vectors` vectors of each row of an unpacked part, as compute_tile does.
template <int layout, int height>
__attribute__((noinline)) void compute_block_tile(const TileSource<UnpackedCode<layout>>& source,
                                                  float* sums) noexcept {
    using Code = UnpackedCode<layout>;
    constexpr int vectors = group_vectors, bias = CodePairs<IntegerCode<layout>>::bias;
    constexpr std::int64_t group_size = sizeof(QuantizedGroup), depth = Code::format.group;
    const std::int64_t stride = source.quantized_stride * group_size;
    const std::byte* base[(height + 2) / 3];
    for (int i = 0; i < (height + 2) / 3; ++i)
        base[i] = reinterpret_cast<const std::byte*>(source.quantized) + 3 * i * stride;
    const auto* panel = reinterpret_cast<const std::int32_t*>(source.panel);
    const UnpackedCode<layout>* ahead = source.ahead;
    F32 total[height][vectors];
#pragma GCC unroll 14
    for (int i = 0; i < height; ++i)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; ++j) total[i][j] = F32{};
    for (std::int64_t first = 0; first < source.depth; first += depth) {
        const QuantizedGroup* const x = source.quantized + first / 32;
        const std::int32_t* const group = panel;
        panel += Code::head_rows * panel_width;
        I32 sum[height][vectors];
#pragma GCC unroll 14
        for (int i = 0; i < height; ++i)
#pragma GCC unroll 2
            for (int j = 0; j < vectors; ++j) sum[i][j] = I32{};
        for (std::int64_t pair = 0; pair < depth / 2; ++pair) {
            __builtin_prefetch(ahead, 0, 3);
            ahead += 2 * source.ahead_step;
            I32 codes[vectors];
#pragma GCC unroll 2
            for (int j = 0; j < vectors; ++j) codes[j] = load(panel + j * lanes);
            panel += panel_width;
#pragma GCC unroll 14
            for (int i = 0; i < height; ++i) {
                std::int32_t of_row;
                std::memcpy(&of_row, base[i / 3] + i % 3 * stride, sizeof of_row);
                const I32 left = splat(of_row);
#pragma GCC unroll 2
                for (int j = 0; j < vectors; ++j) dot_i16(sum[i][j], codes[j], left);
            }
#pragma GCC unroll 5
            for (int i = 0; i < (height + 2) / 3; ++i) base[i] = in_one_register(base[i] + 4);
        }
        if ((first + depth) % 32 == 0)
            for (int i = 0; i < (height + 2) / 3; ++i) base[i] += group_size - 32 * 2;
#pragma GCC unroll 14
        for (int i = 0; i < height; ++i) {
            const QuantizedGroup& of_row = x[i * source.quantized_stride];
            const F32 scale = splat(of_row.scale);
#pragma GCC unroll 2
            for (int j = 0; j < vectors; ++j) {
                if constexpr (bias != 0) sum[i][j] -= splat(bias * sum_of_group<depth>(of_row.integer_sums, first));
                multiply_add(total[i][j], to_float(sum[i][j]), scale * from_bits(load(group + j * lanes)));
                if constexpr (Code::format.has_offsets)
                    multiply_add(total[i][j], splat(sum_of_group<depth>(of_row.sums, first)),
                                 from_bits(load(group + panel_width + j * lanes)));
            }
        }
    }
    float stored[height][vectors * lanes];
    I32 special{};
#pragma GCC unroll 14
    for (int i = 0; i < height; ++i)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; ++j) {
            store(stored[i] + j * lanes, total[i][j]);
            special |= is_not_finite(total[i][j]);
        }
    if (is_any_true(special)) compute_special_block<layout, height>(source, stored);
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < vectors; ++j) {
            float* const to = sums + i * panel_width + j * lanes;
            const F32 part = load(stored[i] + j * lanes);
            store(to, source.adds ? load(to) + part : part);
        }
}

template <int layout, int... heights>
constexpr std::array<TileFunction<UnpackedCode<layout>>, sizeof...(heights)> block_tiles(
    std::integer_sequence<int, heights...>) {
    return {compute_block_tile<layout, heights + 1>...};
}
template <int layout>
inline constexpr auto group_tiles<UnpackedCode<layout>> =
    block_tiles<layout>(std::make_integer_sequence<int, block_height<UnpackedCode<layout>>>());

}  // namespace CAIRN_LEVEL
