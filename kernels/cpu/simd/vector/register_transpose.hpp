#pragma once

#include <utility>

/// Transposes squares of vectors of any width by shuffles of two vectors. Always inlined, so that each copy is compiled
/// for its caller's level.
namespace cairn::kernels::cpu {

/// Interleaves within each part of `width` lanes of two vectors, from its lane `First` on: a, b, a, b, ...
template <int First, int width, typename V, int... I>
[[gnu::always_inline]] inline V interleave(const V& a, const V& b, std::integer_sequence<int, I...>) noexcept {
    constexpr int count = sizeof...(I);
    return __builtin_shufflevector(a, b, (I % 2 * count + I / width * width + First + I % width / 2)...);
}

/// Every second part of `width` lanes, from part `First` on, of a and then of b.
template <int First, int width, typename V, int... I>
[[gnu::always_inline]] inline V every_second(const V& a, const V& b, std::integer_sequence<int, I...>) noexcept {
    return __builtin_shufflevector(a, b, ((I / width * 2 + First) * width + I % width)...);
}

/// Transposes rows to columns. First within parts of 16 bytes, where shuffles are fastest: log2(lanes of a part) rounds
/// interleave rows i and i + width / 2 of as many rows as a part has lanes. Then parts are exchanged in the same way,
/// the even and the odd ones of adjacent rows separately.
template <typename V, int count>
[[gnu::always_inline]] inline void transpose_registers(V (&rows)[count]) noexcept {
    constexpr auto all = std::make_integer_sequence<int, count>();
    constexpr int in_part = 16 / static_cast<int>(sizeof(V) / count), width = in_part < count ? in_part : count;
    V next[count];
#pragma GCC unroll 5
    for (int left = width; left > 1; left /= 2) {
#pragma GCC unroll 32
        for (int i = 0; i < count / 2; ++i) {
            constexpr int half = width / 2;
            const int from = i / half * width + i % half, to = i / half * width + i % half * 2;
            next[to] = interleave<0, width>(rows[from], rows[from + half], all);
            next[to + 1] = interleave<half, width>(rows[from], rows[from + half], all);
        }
#pragma GCC unroll 32
        for (int i = 0; i < count; ++i) rows[i] = next[i];
    }
#pragma GCC unroll 5
    for (int left = count / width; left > 1; left /= 2) {
#pragma GCC unroll 32
        for (int i = 0; i < count / 2; ++i) {
            const int from = i / width * 2 * width + i % width;
            next[i] = every_second<0, width>(rows[from], rows[from + width], all);
            next[i + count / 2] = every_second<1, width>(rows[from], rows[from + width], all);
        }
#pragma GCC unroll 32
        for (int i = 0; i < count; ++i) rows[i] = next[i];
    }
}

}  // namespace cairn::kernels::cpu
