#pragma once

#include "kernels/cpu/simd/vector.hpp"

#include <utility>

/// As many rows of floats as a vector has lanes, transposed in registers.
namespace CAIRN_LEVEL {

/// From two vectors, from their lane `From` on: a, b, a, b, ...
template <int From, int... I>
CAIRN_INLINE F32 interleave(F32 a, F32 b, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, b, (From + I / 2 + I % 2 * lanes)...);
}

/// put(i, the i-th elements of row(0), row(1), ...) for each lane i. Rows i and i + lanes / 2 are interleaved, as often
/// as halving the lanes leaves one: each time the number (row, lane) of an element turns by one bit.
template <typename Row, typename Put>
CAIRN_INLINE void transpose_square(Row row, Put put) {
    constexpr auto all = std::make_integer_sequence<int, lanes>();
    F32 x[lanes], y[lanes];
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) x[i] = row(i);
#pragma GCC unroll 4
    for (int left = lanes; left > 1; left /= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < lanes / 2; ++i) {
            y[2 * i] = interleave<0>(x[i], x[i + lanes / 2], all);
            y[2 * i + 1] = interleave<lanes / 2>(x[i], x[i + lanes / 2], all);
        }
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) x[i] = y[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) put(i, x[i]);
}

}  // namespace CAIRN_LEVEL
