#pragma once

#include "kernels/cpu/simd/vector/lane_shuffles.hpp"
#include "kernels/cpu/simd/vector/vector.hpp"

/// Transposes bytes of as many rows as a vector has lanes, one row per lane. Transposed as words of four bytes, they
/// take a quarter of the shuffles.
namespace CAIRN_LEVEL {

/// Bytes of each row that are loaded together.
inline constexpr int transposed_row_bytes = 16;

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
                           load_every_fourth_row<count / 2>(rows + 2 * count, at));
    }
}

/// fours[w]: the bytes at + 4 w .. at + 4 w + 3 of each row, the first in the lowest bits.
CAIRN_INLINE void load_transposed_bytes(const std::byte* const* rows, std::int64_t at,
                                        I32 (&fours)[transposed_row_bytes / 4]) {
#pragma GCC unroll 4
    for (int i = 0; i < transposed_row_bytes / 4; ++i) fours[i] = load_every_fourth_row<lanes / 4>(rows + i, at);
    transpose_registers(fours);
}

}  // namespace CAIRN_LEVEL
