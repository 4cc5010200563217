#pragma once

#include "kernels/cpu/simd/vector/vector.hpp"

#include <type_traits>
#include <utility>

/// Vectors of any arithmetic type, as wide as the level's registers.
namespace CAIRN_LEVEL {

template <typename T>
struct VecTypes {
    typedef T Type __attribute__((vector_size(4 * lanes)));
    typedef T Memory __attribute__((vector_size(4 * lanes), aligned(sizeof(T)), may_alias));
};
template <typename T>
using Vec = typename VecTypes<T>::Type;
/// Lanes of a Vec.
template <typename T>
inline constexpr int vec_lanes = 4 * lanes / static_cast<int>(sizeof(T));

template <typename T>
CAIRN_INLINE Vec<T> vec_splat(T x) {
    return x - Vec<T>{};
}
template <typename T>
CAIRN_INLINE Vec<T> vec_load(const T* p) {
    return *reinterpret_cast<const typename VecTypes<T>::Memory*>(p);
}
template <typename T>
CAIRN_INLINE void vec_store(T* p, Vec<T> x) {
    *reinterpret_cast<typename VecTypes<T>::Memory*>(p) = x;
}
/// Stores the first `count` < vec_lanes elements only.
template <typename T>
CAIRN_INLINE void vec_store_part(T* p, Vec<T> x, std::int64_t count) {
    if constexpr (std::is_same_v<T, float>)
        store_part(p, x, count);
    else
        std::memcpy(p, &x, static_cast<std::size_t>(count) * sizeof(T));
}
/// The first `count` elements, and `rest` in the other lanes.
template <typename T>
CAIRN_INLINE Vec<T> vec_load_part(const T* p, std::int64_t count, T rest) {
    if constexpr (std::is_same_v<T, float>)
        return count == lanes ? load(p) : first_lanes(count) != 0 ? load_part(p, count) : splat(rest);
    Vec<T> r = vec_splat(rest);
    std::memcpy(&r, p, static_cast<std::size_t>(count) * sizeof(T));
    return r;
}

/// A signed integer of `bytes` bytes.
template <std::size_t bytes>
using LaneNumber = std::conditional_t<
    bytes == 8, std::int64_t,
    std::conditional_t<bytes == 4, std::int32_t, std::conditional_t<bytes == 2, std::int16_t, std::int8_t>>>;
/// 0, 1, 2, ...
template <typename T>
CAIRN_INLINE Vec<T> vec_lane_numbers() {
    return []<int... k>(std::integer_sequence<int, k...>) __attribute__((always_inline)) { return Vec<T>{T{k}...}; }
    (std::make_integer_sequence<int, vec_lanes<T>>());
}

/// `x` in the last `count` lanes, `rest` in the lanes before.
template <typename T>
CAIRN_INLINE Vec<T> last_lanes_of(Vec<T> x, std::int64_t count, T rest) {
    using Number = LaneNumber<sizeof(T)>;
    return vec_lane_numbers<Number>() < vec_splat(static_cast<Number>(vec_lanes<T> - count)) ? vec_splat(rest) : x;
}

template <typename T, std::size_t... k>
CAIRN_INLINE Vec<T> every_second(Vec<T> a, Vec<T> b, std::index_sequence<k...>) {
    return __builtin_shufflevector(a, b, (k < sizeof...(k) / 2 ? 2 * k : 2 * k + 1)...);
}
/// p[0], p[2], p[4], ...: a vector of every second element. Does not read past the last of them.
template <typename T>
CAIRN_INLINE Vec<T> load_every_second(const T* p) {
    constexpr int n = vec_lanes<T>;
    return every_second<T>(vec_load(p), vec_load(p + n - 1), std::make_index_sequence<n>());
}

/// The lanes from `first` on; the other lanes are unspecified.
template <int first, typename V, std::size_t... k>
CAIRN_INLINE V lanes_from(V x, std::index_sequence<k...>) {
    return __builtin_shufflevector(x, x, ((k + first) % sizeof...(k))...);
}
/// Horizontal reduction of all lanes: the first `width` lanes with the next ones, then with half the width, and so on.
template <typename T, int width = vec_lanes<T> / 2, typename Join>
CAIRN_INLINE T reduce_lanes(Vec<T> x, Join combine) {
    if constexpr (width == 0)
        return x[0];
    else
        return reduce_lanes<T, width / 2>(combine(x, lanes_from<width>(x, std::make_index_sequence<vec_lanes<T>>())),
                                          combine);
}

}  // namespace CAIRN_LEVEL
