#pragma once

#include "kernels/cpu/simd/wide.hpp"

#include <utility>

/// As many rows of numbers as a vector has lanes, transposed in registers.
namespace CAIRN_LEVEL {

/// From two vectors, from their lane `From` on: a, b, a, b, ...
template <int From, typename V, int... I>
CAIRN_INLINE V interleave(V a, V b, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, b, (From + I / 2 + I % 2 * static_cast<int>(sizeof...(I)))...);
}

/// put(i, the i-th elements of row(0), row(1), ...) for each lane i. Rows i and i + count / 2 are interleaved, as often
/// as halving the count of lanes leaves one: each time the number (row, lane) of an element turns by one bit.
template <typename T = float, typename Row, typename Put>
CAIRN_INLINE void transpose_square(Row row, Put put) {
    constexpr int count = wide_lanes<T>;
    constexpr auto all = std::make_integer_sequence<int, count>();
    Wide<T> x[count], y[count];
#pragma GCC unroll 32
    for (int i = 0; i < count; ++i) x[i] = row(i);
#pragma GCC unroll 5
    for (int left = count; left > 1; left /= 2) {
#pragma GCC unroll 16
        for (int i = 0; i < count / 2; ++i) {
            y[2 * i] = interleave<0>(x[i], x[i + count / 2], all);
            y[2 * i + 1] = interleave<count / 2>(x[i], x[i + count / 2], all);
        }
#pragma GCC unroll 32
        for (int i = 0; i < count; ++i) x[i] = y[i];
    }
#pragma GCC unroll 32
    for (int i = 0; i < count; ++i) put(i, x[i]);
}

}  // namespace CAIRN_LEVEL
