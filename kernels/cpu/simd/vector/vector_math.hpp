#pragma once

#include "kernels/cpu/simd/vector/vector.hpp"

#include <cmath>

/// Elementary functions on a vector of floats. Largest errors in ulp of the exact result, measured by tests over dense
/// samples of all floats: exp 1, log 1, tanh 1.5, erf 1.5, sigmoid 2.5, sin and cos 2.5, rsqrt 1.5, gelu 5; silu 2 and
/// gelu_tanh 2.5 in ulp of the argument. Over every float, at the worst level: gelu 4.80 (3.95 for x < -1), sigmoid
/// 2.41, silu 1.95, gelu_tanh 2.13. In ulp of the result gelu_tanh has 4 down to x = -1, 11.5 to -2, 69 to -6 and 225
/// below, where e^2u magnifies the rounding of 2u. Infinities, NaN, subnormals and overflow follow IEEE arithmetic. The
/// polynomials are minimax fits for these ranges (Remez exchange); the range reductions follow Cody and Waite, Software
/// Manual for the Elementary Functions, 1980.
namespace CAIRN_LEVEL {

/// The nearest integer, for |x| < 2^22.
CAIRN_INLINE F32 round_small(F32 x) {
    const F32 shift = splat(12582912.0f);  // 1.5 * 2^23: the sum has no bits left for a fraction
    return (x + shift) - shift;
}

/// 2^n for n in -126..127.
CAIRN_INLINE F32 power_of_two(I32 n) { return from_bits((n + 127) << 23); }

/// e^r - 1 for |r| < 0.3467.
CAIRN_INLINE F32 exp_minus_one(F32 r) {
    F32 p = r * 0.001381317947f + 0.008369418833f;
    p = p * r + 0.04166845622f;
    p = p * r + 0.1666651479f;
    p = p * r + 0.4999999305f;
    return p * (r * r) + r;
}

/// p * 2^n for integral n in -152..130 and p near 1.
CAIRN_INLINE F32 times_power_of_two(F32 p, F32 n) {
#if defined(CAIRN_HAS_SCALE)
    return scaled(p, n);
#else
    // Two factors, because 2^n is out of range if the result is subnormal or just below overflow.
    const I32 whole = to_int(n);
    const I32 half = whole >> 1;
    return p * power_of_two(half) * power_of_two(whole - half);
#endif
}

/// x - n log 2 for integral |n| < 2^8.
CAIRN_INLINE F32 reduce_exp_argument(F32 x, F32 n) {
    const F32 r = x - n * 0.693359375f;  // exact: the constant has 10 bits, n has 8
    return r + n * 2.12194440e-4f;
}

/// x clamped to the range outside of which e^x is 0 or infinite.
CAIRN_INLINE F32 within_exp(F32 x) { return quick_max(splat(-105.0f), quick_min(splat(90.0f), x)); }

/// factor * e^(x + tail), where |tail| is small relative to 1. Callers can pass an argument that one float cannot hold,
/// and a factor that keeps its digits where e^x is subnormal.
CAIRN_INLINE F32 exp_times(F32 factor, F32 x, F32 tail) {
    x = within_exp(x);
    const F32 n = round_small((x + tail) * 1.44269504f);
    const F32 p = exp_minus_one(reduce_exp_argument(x, n) + tail) + 1.0f;
    return times_power_of_two(factor * p, n);
}
CAIRN_INLINE F32 exp(F32 x) {
    x = within_exp(x);
    const F32 n = round_small(x * 1.44269504f);
    return times_power_of_two(exp_minus_one(reduce_exp_argument(x, n)) + 1.0f, n);
}

/// e^x for x <= 0, where results below 2^-126 may be 0, as softmax needs. NaN stays NaN.
CAIRN_INLINE F32 exp_negative(F32 x) {
    const F32 n = round_small(x * 1.44269504f);
    const F32 r = reduce_exp_argument(x, n);
    // Adds n to the exponent, which does not overflow for x in range; for NaN n is INT_MIN, which is shifted out.
    const U32 power = std::bit_cast<U32>(to_int(n)) << 23;
    const F32 e = std::bit_cast<F32>(std::bit_cast<U32>(exp_minus_one(r) + 1.0f) + power);
    return x < -87.0f ? F32{} : e;
}

/// x / 2^exponent, in [sqrt(1/2), sqrt(2)), for positive normal numbers; unspecified for others.
CAIRN_INLINE F32 split_exponent(F32 x, F32& exponent) {
    // In unsigned numbers, where the bits of -0 may wrap.
    const U32 whole = std::bit_cast<U32>(x);
    const I32 n = std::bit_cast<I32>(whole - std::bit_cast<std::uint32_t>(0x1.6a09e6p-1f)) >> 23;
    exponent = to_float(n);
    return std::bit_cast<F32>(whole - std::bit_cast<U32>(n << 23));
}

/// The same, also for subnormal numbers.
CAIRN_INLINE F32 split_any_exponent(F32 x, F32& exponent) {
    const I32 tiny = x < 0x1p-126f;
    const F32 m = split_exponent(tiny ? x * 0x1p23f : x, exponent);
    exponent = exponent - (tiny ? splat(23.0f) : F32{});
    return m;
}

CAIRN_INLINE F32 log(F32 x) {
    F32 e;
    const F32 f = split_any_exponent(x, e) - 1.0f;
    F32 p = f * 0.06746637556f - 0.116756507f;
    p = p * f + 0.1188816289f;
    p = p * f - 0.1240558960f;
    p = p * f + 0.1421955254f;
    p = p * f - 0.1666799578f;
    p = p * f + 0.2000211863f;
    p = p * f - 0.2500000960f;
    p = p * f + 0.3333331261f;
    const F32 square = f * f;
    F32 small = p * (f * square) - e * 2.12194440e-4f;
    small = small - 0.5f * square;
    F32 r = (f + small) + e * 0.693359375f;
    r = x == 0.0f ? splat(-std::numeric_limits<float>::infinity()) : r;
    r = x < 0.0f ? splat(std::numeric_limits<float>::quiet_NaN()) : r;
    // +inf and NaN are their own logarithms.
    return x < std::numeric_limits<float>::infinity() ? r : x;
}

CAIRN_INLINE F32 tanh(F32 x) {
    const F32 a = abs(x);
    const F32 u = x * x;
    F32 p = u * -0.005591028089f + 0.02053883322f;
    p = p * u - 0.05370966259f;
    p = p * u + 0.1333109233f;
    p = p * u - 0.3333326952f;
    const F32 small = x + x * (u * p);
    const F32 large = 1.0f - 2.0f / (exp(a + a) + 1.0f);
    return copy_sign(a < 0.625f ? small : large, x);
}

/// factor * (a + 3) P(a), where P(a) is the probability that a standard normal variable exceeds a, for 0 <= a <= 15 and
/// given q = a / (a + 3). It is e^(-a^2/2) times a polynomial in 2 q - 1 that varies little, so there is no
/// cancellation. q times it, a P(a), depends less and less on rounding errors of q as a grows.
CAIRN_INLINE F32 normal_tail(F32 factor, F32 q, F32 a) {
    const F32 t = 2.0f * q - 1.0f;
    F32 m = t * 6.736814248e-05f - 0.0001899847557f;
    m = m * t - 0.0009689820581f;
    m = m * t + 0.0009996345034f;
    m = m * t + 0.006949185394f;
    m = m * t - 0.01045530569f;
    m = m * t - 0.04726073146f;
    m = m * t + 0.2300167233f;
    m = m * t - 0.5093320012f;
    m = m * t + 0.7290837169f;
    // a^2 in two parts, the first exact: the relative error of e^(-a^2/2) is up to a hundred times that of a^2.
    const F32 head = from_bits(bits(a) & static_cast<std::int32_t>(0xfffff000));
    return exp_times(factor * m, head * head * -0.5f, (a - head) * (a + head) * -0.5f);
}

CAIRN_INLINE F32 erf(F32 x) {
    const F32 a = abs(x);
    const F32 u = x * x;
    F32 p = u * 7.853851366e-05f - 0.0008010190549f;
    p = p * u + 0.005188327326f;
    p = p * u - 0.02685381174f;
    p = p * u + 0.1128358514f;
    p = p * u - 0.3761262582f;
    p = p * u + 0.1283791657f;
    const F32 small = x + x * p;
    F32 z = a * 1.41421356f;
    z = z > 15.0f ? splat(15.0f) : z;
    const F32 q = z / (z + 3.0f);
    const F32 large = 1.0f - normal_tail(0.666666687f - 0.666666687f * q, q, z);  // 1 / (z + 3) is (1 - q) / 3
    return copy_sign(a < 1.0f ? small : a == a ? large : a, x);
}

/// x times the normal distribution function: the definition x/2 (1 + erf(x / sqrt 2)) without its cancellation for x <
/// 0, as max(x, 0) - |x| P(|x|).
CAIRN_INLINE F32 gelu(F32 x) {
    F32 a = abs(x);
    a = a > 15.0f ? splat(15.0f) : a;
    const F32 q = a / (a + 3.0f);
    return (x < 0.0f ? x * 0.0f : x) - normal_tail(q, q, a);  // -inf gives NaN, as -inf times 0 does
}
/// sin(x + quarter_turns * pi/2).
CAIRN_INLINE F32 sin_shifted(F32 x, std::int32_t quarter_turns) {
    const F32 n = round_small(x * 0.636619772f);
    // pi/2 in parts of at most 9 bits, so that their products with n < 2^15 are exact.
    F32 r = x - n * 1.5703125f;
    r = r - n * 4.83512878e-4f;
    r = r - n * 3.13855708e-7f;
    r = r - n * 6.07710063e-11f;
    const I32 quadrant = to_int(n) + quarter_turns;
    const F32 u = r * r;
    F32 s = u * -0.0001951083903f + 0.008332131495f;
    s = s * u - 0.1666665423f;
    s = r + r * (u * s);
    F32 c = u * 2.443120518e-05f - 0.001388730605f;
    c = c * u + 0.04166664565f;
    c = (1.0f - 0.5f * u) + c * (u * u);
    const F32 value = (quadrant & 1) != 0 ? c : s;
    return from_bits(bits(value) ^ ((quadrant & 2) << 30));
}
/// True if any lane is out of the range of sin_shifted, or NaN.
CAIRN_INLINE bool is_any_out_of_range(F32 x) { return is_any_true((abs(x) < 30000.0f) ^ -1); }
/// Applies f to each lane in double: for functions without a vector implementation.
template <typename F>
CAIRN_INLINE F32 for_each_lane(F32 x, F f) {
    for (int i = 0; i < lanes; ++i) x[i] = static_cast<float>(f(static_cast<double>(x[i])));
    return x;
}

CAIRN_INLINE F32 rsqrt(F32 x) { return 1.0f / sqrt(x); }

}  // namespace CAIRN_LEVEL
