#pragma once

#include "kernels/cpu/simd/vector/typed_vector.hpp"

#include <utility>

/// Horizontal reductions of as many vectors as there are lanes, done together: a third of the work of separate
/// reductions.
namespace CAIRN_LEVEL {

/// Selects one of each two adjacent parts of `width` lanes, the one at `first`: those of a, then those of b. Parts
/// smaller than 16 bytes stay within their 16 bytes, which is the fastest shuffle.
template <typename T, int width, int first, typename V, int... I>
CAIRN_INLINE V parts_of(V a, V b, std::integer_sequence<int, I...>) {
    constexpr int count = sizeof...(I), of_16 = 16 / static_cast<int>(sizeof(T));
    constexpr int within = width < of_16 ? of_16 : count, half = within / 2;
    return __builtin_shufflevector(
        a, b, (I % within / half * count + I / within * within + I % half / width * 2 * width + I % width + first)...);
}

/// Lane reduced_lane<T>(i) is bitwise equal to reduce_lanes(v[i]) if `combine` is commutative.
template <typename T, typename Join, int count>
CAIRN_INLINE Vec<T> reduce_vectors(const Vec<T> (&v)[count], Join combine) {
    constexpr auto all = std::make_integer_sequence<int, vec_lanes<T>>();
    constexpr int width = count / 2;
    Vec<T> joined[width];
#pragma GCC unroll 16
    for (int i = 0; i < width; ++i)
        joined[i] = combine(parts_of<T, width, 0>(v[2 * i], v[2 * i + 1], all),
                            parts_of<T, width, width>(v[2 * i], v[2 * i + 1], all));
    if constexpr (width == 1)
        return joined[0];
    else
        return reduce_vectors<T>(joined, combine);
}
template <typename T>
constexpr int reduced_lane(int i) {
    constexpr int of_16 = 16 / static_cast<int>(sizeof(T)), parts = vec_lanes<T> / of_16;
    return i % parts * of_16 + i / parts;
}
template <typename T, int... i>
CAIRN_INLINE Vec<T> to_lane_order(Vec<T> joined, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(joined, joined, reduced_lane<T>(i)...);
}
/// Lane i is reduce_lanes(v[i]).
template <typename T, typename Join>
CAIRN_INLINE Vec<T> reduce_vectors_in_order(const Vec<T> (&v)[vec_lanes<T>], Join combine) {
    return to_lane_order<T>(reduce_vectors<T>(v, combine), std::make_integer_sequence<int, vec_lanes<T>>());
}

}  // namespace CAIRN_LEVEL
