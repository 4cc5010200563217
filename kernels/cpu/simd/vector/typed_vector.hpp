#pragma once

#include "kernels/cpu/simd/vector/lane_shuffles.hpp"
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

/// p[0], p[2], p[4], ...: a vector of every second element. Does not read past the last of them.
template <typename T>
CAIRN_INLINE Vec<T> load_every_second(const T* p) {
    constexpr int n = vec_lanes<T>;
    return every_second<0, 1, n, 1>(vec_load(p), vec_load(p + n - 1));
}

}  // namespace CAIRN_LEVEL
