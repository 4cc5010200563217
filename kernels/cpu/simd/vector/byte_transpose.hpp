#pragma once

#include "kernels/cpu/simd/vector/vector.hpp"

#include <utility>

/// Transposes bytes of as many rows as a vector has lanes, one row per lane. Transposed as words of four bytes, they
/// take a quarter of the shuffles.
namespace CAIRN_LEVEL {

/// Bytes of each row that are loaded together.
inline constexpr int transposed_row_bytes = 16;

template <typename V, int... I>
CAIRN_INLINE auto concatenate(V a, V b, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, b, I...);
}
/// Loads 16 bytes at offset `at` of `count` rows: rows[0], rows[4], ...
template <int count>
CAIRN_INLINE auto load_every_fourth_row(const std::byte* const* rows, std::int64_t at) {
    using Four = std::int32_t __attribute__((vector_size(transposed_row_bytes)));
    if constexpr (count == 1) {
        Four row;
        std::memcpy(&row, rows[0] + at, sizeof(row));
        return row;
    } else {
        return concatenate(load_every_fourth_row<count / 2>(rows, at),
                           load_every_fourth_row<count / 2>(rows + 2 * count, at),
                           std::make_integer_sequence<int, 4 * count>());
    }
}

/// Interleaves within each quarter of four words, from word `first` on: a, b, a, b.
template <int first, int... I>
CAIRN_INLINE I32 interleave_in_quarters(I32 a, I32 b, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, b, (I % 2 * lanes + I / 4 * 4 + first + I % 4 / 2)...);
}

/// fours[w]: the bytes at + 4 w .. at + 4 w + 3 of each row, the first in the lowest bits.
CAIRN_INLINE void load_transposed_bytes(const std::byte* const* rows, std::int64_t at,
                                        I32 (&fours)[transposed_row_bytes / 4]) {
    constexpr auto all = std::make_integer_sequence<int, lanes>();
    const I32 a = load_every_fourth_row<lanes / 4>(rows, at), b = load_every_fourth_row<lanes / 4>(rows + 1, at),
              c = load_every_fourth_row<lanes / 4>(rows + 2, at), d = load_every_fourth_row<lanes / 4>(rows + 3, at);
    const I32 ac = interleave_in_quarters<0>(a, c, all), bd = interleave_in_quarters<0>(b, d, all);
    const I32 ac_behind = interleave_in_quarters<2>(a, c, all), bd_behind = interleave_in_quarters<2>(b, d, all);
    fours[0] = interleave_in_quarters<0>(ac, bd, all);
    fours[1] = interleave_in_quarters<2>(ac, bd, all);
    fours[2] = interleave_in_quarters<0>(ac_behind, bd_behind, all);
    fours[3] = interleave_in_quarters<2>(ac_behind, bd_behind, all);
}

}  // namespace CAIRN_LEVEL
