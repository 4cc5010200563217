#pragma once

#include "kernels/cpu/simd/vector/register_transpose.hpp"
#include "kernels/cpu/simd/vector/typed_vector.hpp"

/// Transposes as many rows as a vector has lanes, in registers.
namespace CAIRN_LEVEL {

/// Calls put(i, the i-th elements of row(0), row(1), ...) for each lane i.
template <typename T = float, typename Row, typename Put>
CAIRN_INLINE void transpose_square(Row row, Put put) {
    constexpr int count = vec_lanes<T>;
    Vec<T> rows[count];
#pragma GCC unroll 32
    for (int i = 0; i < count; ++i) rows[i] = row(i);
    transpose_registers(rows);
#pragma GCC unroll 32
    for (int i = 0; i < count; ++i) put(i, rows[i]);
}

}  // namespace CAIRN_LEVEL
