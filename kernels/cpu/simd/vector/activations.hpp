#pragma once

#include "kernels/cpu/simd/vector/double_math.hpp"
#include "kernels/cpu/simd/vector/vector_math.hpp"

/// Functions with one source for vectors of floats and of doubles. Their errors are stated in vector_math.hpp and
/// double_math.hpp.
namespace CAIRN_LEVEL {

/// 1 / (1 + e^-x), with full relative accuracy where it is small.
template <typename V>
CAIRN_INLINE V sigmoid(V x) {
    const V e = exp(-abs(x)), one = V{} + 1;
    return (x < 0 ? e : one) / (one + e);
}
template <typename V>
CAIRN_INLINE V silu(V x) {
    return x * sigmoid(x);
}
/// x/2 (1 + tanh u) = x sigmoid(2 u).
template <typename V>
CAIRN_INLINE V gelu_tanh(V x) {
    using T = std::remove_cvref_t<decltype(x[0])>;
    const V u = x * (1 + static_cast<T>(0.044715) * (x * x));
    return x * sigmoid(u * static_cast<T>(1.5957691216057308));
}

template <typename V>
CAIRN_INLINE V sin(V x) {
    if (is_any_out_of_range(x)) return for_each_lane(x, [](double lane) { return std::sin(lane); });
    return x == 0 ? x : sin_shifted(x, 0);  // the polynomial would lose the sign of -0
}
template <typename V>
CAIRN_INLINE V cos(V x) {
    if (is_any_out_of_range(x)) return for_each_lane(x, [](double lane) { return std::cos(lane); });
    return sin_shifted(x, 1);
}

}  // namespace CAIRN_LEVEL
