#pragma once

#include "kernels/cpu/simd/movement/tile_transpose.hpp"

#include <bit>

/// Deinterleaves triples of elements, such as the channels of an image, into three rows. Uses 16-byte registers, which
/// every supported machine has.
namespace cairn::kernels::cpu {

/// The upper half of x in both halves.
template <typename V>
[[gnu::always_inline]] inline V upper_half(V x) noexcept {
    using Halves = std::int64_t __attribute__((vector_size(16)));
    const auto halves = std::bit_cast<Halves>(x);
    return std::bit_cast<V>(__builtin_shufflevector(halves, halves, 1, 1));
}

/// Deinterleaves three vectors of triples into the vectors of all first, second and third elements. Each of log2(lanes)
/// rounds interleaves the halves of the three vectors. (A round moves element p to place 2 p modulo 3 n - 1; all rounds
/// move it to n p, and so 3 i + c to n c + i.)
template <typename V, int... I>
[[gnu::always_inline]] inline void deinterleave(V (&x)[3], std::integer_sequence<int, I...> all) noexcept {
    constexpr int count = sizeof...(I);
#pragma GCC unroll 4
    for (int left = count; left > 1; left /= 2) {
        const V first = interleave<0, count>(x[0], upper_half(x[1]), all);
        const V second = interleave<0, count>(upper_half(x[0]), x[2], all);
        x[2] = interleave<0, count>(x[1], upper_half(x[2]), all);
        x[0] = first, x[1] = second;
    }
}

/// to[c * to_stride + i] = from[3 * i + c] for i < n, c < 3.
template <typename T>
void deinterleave_triples(T* to, std::int64_t to_stride, const T* from, std::int64_t n) noexcept {
    constexpr int side = Vector128<T>::count;
    std::int64_t i = 0;
    for (; i + side <= n; i += side) {
        typename Vector128<T>::Vector x[3];
        std::memcpy(x, from + 3 * i, sizeof x);
        deinterleave(x, std::make_integer_sequence<int, side>());
        for (int c = 0; c < 3; ++c) std::memcpy(to + c * to_stride + i, &x[c], sizeof x[c]);
    }
    for (; i < n; ++i)
        for (int c = 0; c < 3; ++c) to[c * to_stride + i] = from[3 * i + c];
}

}  // namespace cairn::kernels::cpu
