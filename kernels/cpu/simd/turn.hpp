#pragma once

#include <utility>

/// Squares of vectors turned by interleaving, whatever their width. Always inlined: a copy belongs to who calls it.
namespace cairn::inline v0::kernels::cpu {

/// From two vectors, from their lane `First` on: a, b, a, b, ...
template <int First, typename V, int... I>
[[gnu::always_inline]] inline V interleave(const V& a, const V& b, std::integer_sequence<int, I...>) noexcept {
    return __builtin_shufflevector(a, b, (First + I / 2 + I % 2 * static_cast<int>(sizeof...(I)))...);
}

/// Rows become columns. Rows i and i + count / 2 are interleaved, as often as halving the count leaves one: each time
/// the number (row, lane) of an element turns by one bit.
template <typename V, int count>
[[gnu::always_inline]] inline void turn(V (&rows)[count]) noexcept {
    constexpr auto all = std::make_integer_sequence<int, count>();
#pragma GCC unroll 5
    for (int left = count; left > 1; left /= 2) {
        V next[count];
#pragma GCC unroll 16
        for (int i = 0; i < count / 2; ++i) {
            next[2 * i] = interleave<0>(rows[i], rows[i + count / 2], all);
            next[2 * i + 1] = interleave<count / 2>(rows[i], rows[i + count / 2], all);
        }
#pragma GCC unroll 32
        for (int i = 0; i < count; ++i) rows[i] = next[i];
    }
}

}  // namespace cairn::inline v0::kernels::cpu
