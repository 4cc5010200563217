#pragma once

#include "kernels/cpu/simd/vector/double_vector.hpp"

#include <cmath>

/// Elementary functions on a vector of doubles, the counterpart of vector_math.hpp. Largest errors in ulp of the exact
/// result, measured by tests over samples of all doubles: exp, log, sin and cos 1, tanh 3, erf 1.75, sigmoid 2.5, gelu
/// 5, rsqrt 1.5; silu 2.25 and gelu_tanh 2.5 in ulp of the argument. Infinities, NaN, subnormals and overflow follow
/// IEEE arithmetic. The polynomials are minimax fits for these ranges (Remez exchange).
namespace CAIRN_LEVEL {

/// ln 2 in two parts. The first has 42 bits, so its products with exponents are exact.
inline constexpr double log_of_two = 0x1.62e42fefa3800p-1, rest_of_log_of_two = 0x1.ef35793c76730p-45;

/// e^r - 1 for |r| < 0.3467.
CAIRN_INLINE F64 exp_minus_one(F64 r) {
    F64 p = r * 2.0875932436539767e-09 + 2.5109004437597984e-08;
    p = p * r + 2.7557400920768677e-07;
    p = p * r + 2.7557244306747905e-06;
    p = p * r + 2.4801587174284203e-05;
    p = p * r + 0.00019841269886026555;
    p = p * r + 0.0013888888888961624;
    p = p * r + 0.00833333333332167;
    p = p * r + 0.04166666666666651;
    p = p * r + 0.16666666666666677;
    p = p * r + 0.5;
    return r + p * (r * r);
}

/// factor * e^(x + tail), where |tail| is small relative to 1; see exp_times in vector_math.hpp.
CAIRN_INLINE F64 exp_times(F64 factor, F64 x, F64 tail) {
    x = quick_max(splat(-760.0), quick_min(splat(720.0), x));
    const F64 n = round_small((x + tail) * 1.4426950408889634);
    F64 r = x - n * log_of_two;
    r = r - n * rest_of_log_of_two;
    r = r + tail;
    const F64 p = exp_minus_one(r) + 1.0;
    // Two factors, because 2^n is out of range if e^x is subnormal or just below overflow.
    const F64 half = round_small(n * 0.5);
    return factor * p * power_of_two(half) * power_of_two(n - half);
}
CAIRN_INLINE F64 exp(F64 x) { return exp_times(splat(1.0), x, F64{}); }

CAIRN_INLINE F64 log(F64 x) {
    F64 e;
    const F64 f = split_any_exponent(x, e) - 1.0;
    // log(1 + f) is 2 atanh(s), s = f / (2 + f); the terms f - f^2/2 are computed separately, with smaller error.
    const F64 s = f / (f + 2.0);
    const F64 z = s * s;
    F64 p = z * 0.14795994059053313 + 0.15314046304288553;
    p = p * z + 0.18183564484620215;
    p = p * z + 0.22222198570288795;
    p = p * z + 0.2857142874241416;
    p = p * z + 0.3999999999941457;
    p = p * z + 0.6666666666666734;
    const F64 half_square = 0.5 * f * f;
    const F64 small = s * (half_square + p * z) + e * rest_of_log_of_two;
    F64 r = e * log_of_two - ((half_square - small) - f);
    r = x == 0.0 ? splat(-std::numeric_limits<double>::infinity()) : r;
    r = x < 0.0 ? splat(std::numeric_limits<double>::quiet_NaN()) : r;
    // +inf and NaN are their own logarithms.
    return x < std::numeric_limits<double>::infinity() ? r : x;
}

CAIRN_INLINE F64 tanh(F64 x) {
    const F64 a = abs(x);
    F64 y = a + a;
    y = y > 44.0 ? splat(44.0) : y;
    const F64 n = round_small(y * 1.4426950408889634);
    F64 r = y - n * log_of_two;
    r = r - n * rest_of_log_of_two;
    const F64 power = power_of_two(n);
    const F64 t = exp_minus_one(r) * power + (power - 1.0);  // e^2a - 1
    const I64 is_small = a < 0.55;
    const F64 q = (is_small ? t : splat(2.0)) / (t + 2.0);
    return copy_sign(is_small ? q : 1.0 - q, x);
}

/// factor * (a + 5) P(a), where P(a) is the probability that a standard normal variable exceeds a, for 0 <= a <= 39 and
/// given q = a / (a + 5); see normal_tail in vector_math.hpp.
CAIRN_INLINE F64 normal_tail(F64 factor, F64 q, F64 a) {
    const F64 t = 2.0 * q - 1.0;
    F64 m = t * -3.0290539004546705e-10 + 1.4319330609840083e-09;
    m = m * t + 7.9421569710183e-09;
    m = m * t - 8.294689811481156e-09;
    m = m * t - 6.601141346463713e-08;
    m = m * t + 4.088035303562606e-08;
    m = m * t + 4.328839363091487e-07;
    m = m * t - 3.3553711813342016e-07;
    m = m * t - 2.768952353121384e-06;
    m = m * t + 3.9803846826620996e-06;
    m = m * t + 1.6681041166022094e-05;
    m = m * t - 4.976265490979014e-05;
    m = m * t - 5.9375674776879466e-05;
    m = m * t + 0.0005448990333915483;
    m = m * t - 0.0007978694080123055;
    m = m * t - 0.0029933767667058835;
    m = m * t + 0.020795066800837914;
    m = m * t - 0.06911863870656998;
    m = m * t + 0.1650203661703374;
    m = m * t - 0.3135331566712962;
    m = m * t + 0.4953056159699773;
    m = m * t - 0.6653825028900567;
    m = m * t + 0.769193049750063;
    // a^2 in two parts, the first exact: the relative error of e^(-a^2/2) is up to a thousand times that of a^2.
    const F64 head = from_bits(unsigned_bits(a) & ~std::uint64_t{0x7ffffff});
    return exp_times(factor * m, head * head * -0.5, (a - head) * (a + head) * -0.5);
}

CAIRN_INLINE F64 erf(F64 x) {
    const F64 a = abs(x);
    const F64 u = x * x;
    F64 p = u * -7.779471875636672e-10 + 1.3710982496104633e-08;
    p = p * u - 1.6206314314998661e-07;
    p = p * u + 1.6447131654160477e-06;
    p = p * u - 1.4924712309643737e-05;
    p = p * u + 0.00012055293577351906;
    p = p * u - 0.0008548325929331682;
    p = p * u + 0.005223977606118885;
    p = p * u - 0.026866170643111524;
    p = p * u + 0.11283791670944185;
    p = p * u - 0.3761263890318352;
    p = p * u + 0.12837916709551256;
    const F64 small = x + x * p;
    F64 z = a * 1.4142135623730951;
    z = z > 39.0 ? splat(39.0) : z;
    const F64 q = z / (z + 5.0);
    const F64 large = 1.0 - normal_tail(0.4 - 0.4 * q, q, z);  // 1 / (z + 5) is (1 - q) / 5
    return copy_sign(a < 1.0 ? small : a == a ? large : a, x);
}

/// x times the normal distribution function, as max(x, 0) - |x| P(|x|).
CAIRN_INLINE F64 gelu(F64 x) {
    F64 a = abs(x);
    a = a > 39.0 ? splat(39.0) : a;
    const F64 q = a / (a + 5.0);
    return (x < 0.0 ? x * 0.0 : x) - normal_tail(q, q, a);  // -inf gives NaN, as -inf times 0 does
}
/// sin(x + quarter_turns * pi/2), for |x| <= max_shifted_argument.
CAIRN_INLINE F64 sin_shifted(F64 x, std::uint64_t quarter_turns) {
    const F64 shifted = x * 0.6366197723675814 + rounding_shift;
    const F64 n = shifted - rounding_shift;
    // pi/2 in parts of 33 bits, so that their products with n < 2^20 are exact; the rounding errors of the differences
    // are added to `tail`.
    const F64 first = x - n * 0x1.921fb54400000p0;
    const F64 second = n * 0x1.0b4611a600000p-34, a = first - second;
    const F64 third = n * 0x1.3198a2e000000p-69, r = a - third;
    const F64 lost_of_a = (first - (a + (first - a))) + ((first - a) - second);
    const F64 lost_of_r = (a - (r + (a - r))) + ((a - r) - third);
    const F64 tail = (lost_of_a + lost_of_r) - n * 0x1.b839a252049c1p-104;
    const U64 quadrant = unsigned_bits(shifted) + quarter_turns;
    const F64 u = r * r;
    F64 s = u * 1.5896811813624296e-10 - 2.505075838433814e-08;
    s = s * u + 2.7557313693570772e-06;
    s = s * u - 0.00019841269829812372;
    s = s * u + 0.008333333333322418;
    s = s * u - 0.16666666666666632;
    s = r + (r * (u * s) + tail * (1.0 - 0.5 * u));
    F64 c = u * -1.1358525253332457e-11 + 2.0875700629449287e-09;
    c = c * u - 2.7557314177772345e-07;
    c = c * u + 2.480158728884657e-05;
    c = c * u - 0.001388888888887305;
    c = c * u + 0.041666666666666595;
    const F64 half = 0.5 * u, one_less = 1.0 - half;
    c = one_less + (((1.0 - one_less) - half) + (c * (u * u) - r * tail));
    const F64 is_odd = from_bits((quadrant << 63) | std::bit_cast<std::uint64_t>(1.0));  // negative if odd
    const F64 value = is_odd < 0.0 ? c : s;
    return from_bits(unsigned_bits(value) ^ ((quadrant & 2) << 62));
}
/// Range of the arguments of sin_shifted.
inline constexpr double max_shifted_argument = 1e6;
CAIRN_INLINE bool is_any_out_of_range(F64 x) { return is_any_true((abs(x) <= max_shifted_argument) ^ -1); }

/// Applies f to each lane: for functions without a vector implementation.
template <typename F>
CAIRN_INLINE F64 for_each_lane(F64 x, F f) {
    for (int i = 0; i < vec_lanes<double>; ++i) x[i] = f(x[i]);
    return x;
}

}  // namespace CAIRN_LEVEL
