#pragma once

#include <type_traits>
#include <utility>

/// Lane shuffles of vectors of any type and width: selections from two vectors, and the transposes made of them. Always
/// inlined, so that each copy is compiled for its caller's level.
namespace cairn::kernels::cpu {

template <typename V>
using LaneOf = std::remove_cvref_t<decltype(std::declval<V&>()[0])>;
template <typename V>
inline constexpr int lane_count = static_cast<int>(sizeof(V) / sizeof(LaneOf<V>));
/// Lanes of a part of 16 bytes, within which shuffles are fastest.
template <typename V>
inline constexpr int part_lanes = static_cast<int>((sizeof(V) < 16 ? sizeof(V) : 16) / sizeof(LaneOf<V>));

template <typename V, typename Lane, int... i>
[[gnu::always_inline]] inline auto shuffle(const V& a, const V& b, Lane lane,
                                           std::integer_sequence<int, i...>) noexcept {
    return __builtin_shufflevector(a, b, lane(i)...);
}
/// A vector of `count` lanes: lane i is lane `lane(i)` of a, or of b counted on from a. `lane` captures nothing.
template <int count, typename V, typename Lane>
[[gnu::always_inline]] inline auto shuffle(const V& a, const V& b, Lane lane) noexcept {
    return shuffle(a, b, lane, std::make_integer_sequence<int, count>());
}

/// a, then b.
template <typename V>
[[gnu::always_inline]] inline auto concatenate(const V& a, const V& b) noexcept {
    return shuffle<2 * lane_count<V>>(a, b, [](int i) { return i; });
}

/// `count` lanes from `first` on, continued with the first lanes after the last one.
template <int first, int count, typename V>
[[gnu::always_inline]] inline auto lanes_from(const V& x) noexcept {
    return shuffle<count>(x, x, [](int i) { return (i + first) % lane_count<V>; });
}

/// Interleaves within each part of `width` lanes of two vectors, from its lane `first` on: a, b, a, b, ...
template <int first, int width, typename V>
[[gnu::always_inline]] inline V interleave(const V& a, const V& b) noexcept {
    constexpr int n = lane_count<V>;
    return shuffle<n>(a, b, [](int i) { return i % 2 * n + i / width * width + first + i % width / 2; });
}

/// Every second part of `width` lanes within each group of `group` lanes: from part `first` on of a, then from part
/// `first_of_b` on of b.
template <int first, int width, int group, int first_of_b = first, typename V>
[[gnu::always_inline]] inline V every_second(const V& a, const V& b) noexcept {
    constexpr int n = lane_count<V>, half = group / 2;
    return shuffle<n>(a, b, [](int i) {
        const bool is_of_b = i % group >= half;
        const int part = i % half / width * 2 + (is_of_b ? first_of_b : first);
        return (is_of_b ? n : 0) + i / group * group + part * width + i % width;
    });
}
/// The same in the whole vectors.
template <int first, int width, typename V>
[[gnu::always_inline]] inline V every_second(const V& a, const V& b) noexcept {
    return every_second<first, width, lane_count<V>>(a, b);
}

/// Transposes rows to columns. First within parts of 16 bytes, where shuffles are fastest: log2(lanes of a part) rounds
/// interleave rows i and i + width / 2 of as many rows as a part has lanes. Then parts are exchanged in the same way,
/// the even and the odd ones of adjacent rows separately. Only as many rows as a part has lanes are transposed within
/// each part.
template <typename V, int count>
[[gnu::always_inline]] inline void transpose_registers(V (&rows)[count]) noexcept {
    constexpr int width = part_lanes<V>;
    static_assert(count == lane_count<V> || count == width);
    V next[count];
#pragma GCC unroll 5
    for (int left = width; left > 1; left /= 2) {
#pragma GCC unroll 32
        for (int i = 0; i < count / 2; ++i) {
            constexpr int half = width / 2;
            const int from = i / half * width + i % half, to = i / half * width + i % half * 2;
            next[to] = interleave<0, width>(rows[from], rows[from + half]);
            next[to + 1] = interleave<half, width>(rows[from], rows[from + half]);
        }
#pragma GCC unroll 32
        for (int i = 0; i < count; ++i) rows[i] = next[i];
    }
    if constexpr (count > width) {
#pragma GCC unroll 5
        for (int left = count / width; left > 1; left /= 2) {
#pragma GCC unroll 32
            for (int i = 0; i < count / 2; ++i) {
                const int from = i / width * 2 * width + i % width;
                next[i] = every_second<0, width>(rows[from], rows[from + width]);
                next[i + count / 2] = every_second<1, width>(rows[from], rows[from + width]);
            }
#pragma GCC unroll 32
            for (int i = 0; i < count; ++i) rows[i] = next[i];
        }
    }
}

/// Calls put(i, the i-th lanes of row(0), row(1), ...) for each lane i of the rows, which are as many as the lanes.
template <typename V, typename Row, typename Put>
[[gnu::always_inline]] inline void transpose_square(Row row, Put put) {
    constexpr int count = lane_count<V>;
    V rows[count];
#pragma GCC unroll 32
    for (int i = 0; i < count; ++i) rows[i] = row(i);
    transpose_registers(rows);
#pragma GCC unroll 32
    for (int i = 0; i < count; ++i) put(i, rows[i]);
}

/// Deinterleaves three vectors of triples into the vectors of all first, second and third elements. Each of log2(lanes)
/// rounds interleaves the halves of the three vectors. (A round moves element p to place 2 p modulo 3 n - 1; all rounds
/// move it to n p, and so 3 i + c to n c + i.)
template <typename V>
[[gnu::always_inline]] inline void deinterleave(V (&x)[3]) noexcept {
    constexpr int count = lane_count<V>;
    // In both halves, which is the fastest shuffle.
    const auto upper_half = [](const V& v) __attribute__((always_inline)) {
        return shuffle<count>(v, v, [](int i) { return count / 2 + i % (count / 2); });
    };
#pragma GCC unroll 4
    for (int left = count; left > 1; left /= 2) {
        const V first = interleave<0, count>(x[0], upper_half(x[1]));
        const V second = interleave<0, count>(upper_half(x[0]), x[2]);
        x[2] = interleave<0, count>(x[1], upper_half(x[2]));
        x[0] = first, x[1] = second;
    }
}

}  // namespace cairn::kernels::cpu
