#pragma once

#include "kernels/cpu/simd/wide.hpp"

#include <utility>

/// The lanes of as many vectors as one has lanes joined side by side: a third of the work of one vector after another.
namespace CAIRN_LEVEL {

/// Of each two neighbouring parts of `width` lanes of two vectors the one at `first`: those of a, then those of b.
/// Parts of less than 16 bytes stay in the 16 bytes in which they are, which is where registers move them fastest.
template <typename T, int width, int first, typename V, int... I>
CAIRN_INLINE V parts_of(V a, V b, std::integer_sequence<int, I...>) {
    constexpr int count = sizeof...(I), of_16 = 16 / static_cast<int>(sizeof(T));
    constexpr int within = width < of_16 ? of_16 : count, half = within / 2;
    return __builtin_shufflevector(
        a, b, (I % within / half * count + I / within * within + I % half / width * 2 * width + I % width + first)...);
}

/// Lane joined_lane<T>(i) is join_lanes(v[i]) to the bit, where `join` is commutative.
template <typename T, typename Join, int count>
CAIRN_INLINE Wide<T> join_all(const Wide<T> (&v)[count], Join join) {
    constexpr auto all = std::make_integer_sequence<int, wide_lanes<T>>();
    constexpr int width = count / 2;
    Wide<T> joined[width];
#pragma GCC unroll 16
    for (int i = 0; i < width; ++i)
        joined[i] = join(parts_of<T, width, 0>(v[2 * i], v[2 * i + 1], all),
                         parts_of<T, width, width>(v[2 * i], v[2 * i + 1], all));
    if constexpr (width == 1)
        return joined[0];
    else
        return join_all<T>(joined, join);
}
template <typename T>
constexpr int joined_lane(int i) {
    constexpr int of_16 = 16 / static_cast<int>(sizeof(T)), parts = wide_lanes<T> / of_16;
    return i % parts * of_16 + i / parts;
}
template <typename T, int... i>
CAIRN_INLINE Wide<T> in_lane_order(Wide<T> joined, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(joined, joined, joined_lane<T>(i)...);
}
/// join_lanes(v[i]) in lane i.
template <typename T, typename Join>
CAIRN_INLINE Wide<T> join_in_order(const Wide<T> (&v)[wide_lanes<T>], Join join) {
    return in_lane_order<T>(join_all<T>(v, join), std::make_integer_sequence<int, wide_lanes<T>>());
}

}  // namespace CAIRN_LEVEL
