#pragma once

#include "kernels/cpu/simd/double_math.hpp"
#include "kernels/cpu/simd/vector_math.hpp"

/// x^y of vectors, with the special cases of C (Annex F). Largest errors in units in the last place, found by tests:
/// 0.51 of floats, which are computed in doubles, 1.25 of doubles, whose logarithms are sums of two.
namespace CAIRN_LEVEL {

/// How far from an integer a number is, zero for NaN; `fraction_less`: the power of two from which on all are integers.
template <typename V, typename Number>
CAIRN_INLINE V fraction_of(V x, Number fraction_less) {
    V a = abs(x);
    a = a < fraction_less ? a : V{};
    return ((a + fraction_less) - fraction_less) - a;
}

/// x^y given |x|^y, which may be anything where x is zero, infinite or NaN, or y is NaN.
template <typename V, typename Number>
CAIRN_INLINE V signed_power(V power, V x, V y, Number fraction_less) {
    using Limits = std::numeric_limits<Number>;
    const V a = abs(x), infinity = V{} + Limits::infinity(), zero{};
    const V of_zero = y < 0 ? infinity : zero, of_infinite = y < 0 ? zero : infinity;
    V r = a == 0 ? of_zero : power;
    r = a == infinity ? of_infinite : r;
    const V by_odd = fraction_of(y * Number(0.5), fraction_less) == 0 ? r : copy_sign(r, x);
    const V by_fraction = x < 0 ? (a == infinity ? r : V{} + Limits::quiet_NaN()) : r;
    r = fraction_of(y, fraction_less) == 0 ? by_odd : by_fraction;
    r = x == x ? r : x;
    r = y == y ? r : y;
    r = x == 1 ? zero + 1 : r;
    return y == 0 ? zero + 1 : r;
}

/// A number as the sum of two doubles, the second small beside the first.
struct TwoDoubles {
    F64 head, tail;
};
/// a + b, where a is zero or no smaller than b.
CAIRN_INLINE TwoDoubles sum_of(F64 a, F64 b) {
    const F64 head = a + b;
    return {head, (a - head) + b};
}
CAIRN_INLINE TwoDoubles product_of(TwoDoubles a, TwoDoubles b) {
    const F64 head = rounded(a.head * b.head);
    return {head, product_error(a.head, b.head, head) + (a.head * b.tail + a.tail * b.head)};
}

/// ln a, to 2^-65 of it, for positive finite numbers.
CAIRN_INLINE TwoDoubles exact_log(F64 a) {
    const I64 tiny = a < 0x1p-1022;
    F64 e;
    const F64 m = split_power(tiny ? a * 0x1p54 : a, e);
    e = e - (tiny ? splat(54.0) : F64{});
    // ln m is 2 atanh(s), s = (m - 1) / (m + 1).
    const F64 above = m - 1.0, below = m + 1.0, rest_below = m - (below - 1.0), inverse = 1.0 / below;
    TwoDoubles s{above * inverse, {}};
    const F64 back = rounded(s.head * below);
    s.tail = (((above - back) - product_error(s.head, below, back)) - s.head * rest_below) * inverse;
    const TwoDoubles square = product_of(s, s);
    const F64 z = square.head;
    F64 p = z * 0.06598126407041843 + 0.06628412701326793;
    p = p * z + 0.07693378513767891;
    p = p * z + 0.09090892186549306;
    p = p * z + 0.11111111259931335;
    p = p * z + 0.1428571428504993;
    p = p * z + 0.20000000000001128;
    TwoDoubles series = sum_of(splat(0x1.5555555555555p-2), z * p);  // 1/3 and more
    series.tail = series.tail + 0x1.5555555555555p-56;
    const TwoDoubles more = product_of(s, product_of(square, series));
    TwoDoubles log_of_m = sum_of(s.head, more.head);
    log_of_m.tail = log_of_m.tail + (more.tail + s.tail);
    TwoDoubles r = sum_of(e * log_of_two, log_of_m.head + log_of_m.head);
    r.tail = r.tail + ((log_of_m.tail + log_of_m.tail) + e * rest_of_log_of_two);
    return r;
}

CAIRN_INLINE F64 pow(F64 x, F64 y) {
    const TwoDoubles log = exact_log(abs(x));
    // However near to 1 a number is, this power of it is infinite or 0.
    F64 z = y > 0x1p66 ? splat(0x1p66) : y;
    z = z < -0x1p66 ? splat(-0x1p66) : z;
    const F64 head = rounded(z * log.head);
    const F64 tail = product_error(z, log.head, head) + z * log.tail;
    return signed_power(exp_times(splat(1.0), head, abs(head) < 1000.0 ? tail : F64{}), x, y, 0x1p52);
}

/// a^y of positive finite floats, to 2^-33 of it, infinite or 0 where a float is.
CAIRN_INLINE F64 power_of_floats(F64 a, F64 y) {
    F64 e;
    const F64 f = split_power(a, e) - 1.0;
    const F64 s = f / (f + 2.0);
    const F64 z = s * s;
    // log2 of m is 2 atanh(s) / ln 2.
    F64 p = z * 0.2828998235692397 + 0.31990571942200047;
    p = p * z + 0.4122092518639963;
    p = p * z + 0.577077942369423;
    p = p * z + 0.9617966941133295;
    p = p * z + 2.88539008177785;
    F64 t = (s * p + e) * y;
    t = t > 200.0 ? splat(200.0) : t;
    t = t < -200.0 ? splat(-200.0) : t;
    const F64 n = round_small(t), r = t - n;
    F64 q = r * 1.5201930601380436e-05 + 0.00015469291743366563;
    q = q * r + 0.0013333922518541344;
    q = q * r + 0.009618027251239133;
    q = q * r + 0.055504103535169734;
    q = q * r + 0.24022651198183848;
    q = q * r + 0.6931471807284164;
    q = q * r + 0.9999999999616762;
    return q * power_of_two(n);
}

CAIRN_INLINE F32 pow(F32 x, F32 y) {
    const F32 a = abs(x);
    // However near to 1 a float is, this power of it is infinite or 0.
    F32 z = y > 0x1p35f ? splat(0x1p35f) : y;
    z = z < -0x1p35f ? splat(-0x1p35f) : z;
    const F32 power = to_floats(power_of_floats(first_doubles(a), first_doubles(z)),
                                power_of_floats(last_doubles(a), last_doubles(z)));
    return signed_power(power, x, y, 0x1p23f);
}

}  // namespace CAIRN_LEVEL
