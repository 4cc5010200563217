#pragma once

#include "kernels/cpu/simd/vector/lane_shuffles.hpp"
#include "kernels/cpu/simd/vector/typed_vector.hpp"

/// Horizontal reductions of one vector, and of as many vectors as there are lanes, done together: a third of the work
/// of separate reductions.
namespace CAIRN_LEVEL {

/// Horizontal reduction of all lanes: the first `width` lanes with the next ones, then with half the width, and so on.
template <typename V, int width = lane_count<V> / 2, typename Join>
CAIRN_INLINE LaneOf<V> reduce_lanes(V x, Join combine) {
    if constexpr (width == 0)
        return x[0];
    else
        return reduce_lanes<V, width / 2>(combine(x, lanes_from<width, lane_count<V>>(x)), combine);
}

/// Lane reduced_lane<V>(i) is bitwise equal to reduce_lanes(v[i]) if `combine` is commutative. Lanes are selected
/// within 16 bytes where possible, which is the fastest shuffle.
template <typename V, typename Join, int count>
CAIRN_INLINE V reduce_vectors(const V (&v)[count], Join combine) {
    constexpr int width = count / 2, group = width < part_lanes<V> ? part_lanes<V> : lane_count<V>;
    V combined[width];
#pragma GCC unroll 16
    for (int i = 0; i < width; ++i)
        combined[i] = combine(every_second<0, width, group>(v[2 * i], v[2 * i + 1]),
                              every_second<1, width, group>(v[2 * i], v[2 * i + 1]));
    if constexpr (width == 1)
        return combined[0];
    else
        return reduce_vectors(combined, combine);
}
template <typename V>
constexpr int reduced_lane(int i) {
    constexpr int parts = lane_count<V> / part_lanes<V>;
    return i % parts * part_lanes<V> + i / parts;
}
/// Lane i is reduce_lanes(v[i]).
template <typename V, typename Join, int count>
CAIRN_INLINE V reduce_vectors_in_order(const V (&v)[count], Join combine) {
    const V combined = reduce_vectors(v, combine);
    return shuffle<count>(combined, combined, [](int i) { return reduced_lane<V>(i); });
}

}  // namespace CAIRN_LEVEL
