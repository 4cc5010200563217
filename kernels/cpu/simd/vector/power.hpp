#pragma once

#include "kernels/cpu/simd/vector/double_math.hpp"
#include "kernels/cpu/simd/vector/vector_math.hpp"

/// x^y on vectors, with the special cases of C (Annex F). Largest errors in ulp, measured by tests: 0.51 for floats,
/// which are computed in doubles; 1.25 for doubles, whose logarithms are sums of two doubles.
namespace CAIRN_LEVEL {

/// True if x is positive, finite and normal and y is finite in all lanes; x^y is then |x|^y.
template <typename V>
CAIRN_INLINE bool are_all_plain(V x, V y) {
    using Limits = std::numeric_limits<std::remove_cvref_t<decltype(x[0])>>;
    const auto plain = (x >= Limits::min()) & (x <= Limits::max()) & (abs(y) <= Limits::max());
    return !is_any_true(plain ^ -1);
}

/// The logarithm of a >= 0, given it for positive finite a: -inf for 0; infinity and NaN are unchanged.
template <typename V>
CAIRN_INLINE V log_or_limit(V log, V a) {
    using Limits = std::numeric_limits<std::remove_cvref_t<decltype(a[0])>>;
    log = a == 0 ? V{} - Limits::infinity() : log;
    return a <= Limits::max() ? log : a;
}

/// x^y given |x|^y, which may be unspecified if x is 1 or y is zero.
template <typename V>
CAIRN_INLINE V signed_power(V power, V x, V y) {
    using Number = std::remove_cvref_t<decltype(x[0])>;
    using Limits = std::numeric_limits<Number>;
    const V half = y * Number(0.5), one = V{} + 1;
    const auto is_whole = floor(y) == y, is_odd = is_whole & (floor(half) != half);
    V r = is_odd ? copy_sign(power, x) : power;
    r = (x < 0) & (x >= Limits::lowest()) & (is_whole ^ -1) ? V{} + Limits::quiet_NaN() : r;
    r = x == 1 ? one : r;
    return y == 0 ? one : r;
}

/// A number as the sum of two doubles, the second small relative to the first.
struct TwoDoubles {
    F64 head, tail;
};
/// a + b, where a is zero or |a| >= |b|.
CAIRN_INLINE TwoDoubles sum_of(F64 a, F64 b) {
    const F64 head = a + b;
    return {head, (a - head) + b};
}
CAIRN_INLINE TwoDoubles product_of(TwoDoubles a, TwoDoubles b) {
    const F64 head = rounded(a.head * b.head);
    return {head, product_error(a.head, b.head, head) + (a.head * b.tail + a.tail * b.head)};
}

/// ln a with relative error 2^-65, for positive finite numbers.
CAIRN_INLINE TwoDoubles exact_log(F64 a) {
    F64 e;
    const F64 m = split_any_exponent(a, e);
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
    const bool is_plain = are_all_plain(x, y);
    const F64 a = abs(x);
    TwoDoubles log = exact_log(a);
    F64 z = y;
    if (!is_plain) {
        log.head = log_or_limit(log.head, a);
        // Even for the numbers closest to 1, this power is infinite or 0.
        z = quick_max(splat(-0x1p66), quick_min(splat(0x1p66), y));
    }
    const F64 head = rounded(z * log.head);
    const F64 tail = product_error(z, log.head, head) + z * log.tail;
    const F64 power = exp_times(splat(1.0), head, abs(head) < 1000.0 ? tail : F64{});
    return is_plain ? power : signed_power(power, x, y);
}

/// ((1 + f) 2^e)^y for 1 + f in [sqrt(1/2), sqrt(2)), with relative error 2^-32; infinite or 0 where a float is.
CAIRN_INLINE F64 power_of_floats(F64 f, F64 e, F64 y) {
    // Even and odd powers separately: the two dependency chains overlap and take little more time than one.
    const F64 square = f * f;  // log2(1 + f) / f
    F64 even = square * 0.13251189314541903 + 0.13027565400785945;
    F64 odd = square * -0.06973913552133122 - 0.1346292473117344;
    even = even * square + 0.16021666232856815;
    odd = odd * square - 0.14249865137791534;
    even = even * square + 0.20610712341151366;
    odd = odd * square - 0.1804367491885773;
    even = even * square + 0.28853879571622815;
    odd = odd * square - 0.24044643365723223;
    even = even * square + 0.4808983488029962;
    odd = odd * square - 0.36067379313530407;
    even = even * square + 1.4426950408865744;
    odd = odd * square - 0.7213475203275658;
    const F64 log = f * (odd * f + even) + e;
    const F64 t = quick_max(splat(-200.0), quick_min(splat(200.0), log * y));
    const F64 shifted = t + rounding_shift, r = t - (shifted - rounding_shift), s = r * r;
    F64 p = s * 0.00015469291743366563 + 0.009618027251239133;  // 2^r
    F64 q = s * 1.5201930601380436e-05 + 0.0013333922518541344;
    p = p * s + 0.24022651198183848;
    q = q * s + 0.055504103535169734;
    p = p * s + 0.9999999999616762;
    q = q * s + 0.6931471807284164;
    return from_bits(unsigned_bits(q * r + p) + (unsigned_bits(shifted) << 52));
}

CAIRN_INLINE F32 pow(F32 x, F32 y) {
    const bool is_plain = are_all_plain(x, y);
    F32 m, e, z = y;
    if (is_plain) {
        m = split_exponent(x, e);
    } else {
        const F32 a = abs(x);
        m = split_any_exponent(a, e);
        e = log_or_limit(e, a);
        // Even for the floats closest to 1, this power is infinite or 0.
        z = quick_max(splat(-0x1p35f), quick_min(splat(0x1p35f), y));
    }
    const F32 f = m - 1.0f;
    const F32 power = to_floats(power_of_floats(first_doubles(f), first_doubles(e), first_doubles(z)),
                                power_of_floats(last_doubles(f), last_doubles(e), last_doubles(z)));
    return is_plain ? power : signed_power(power, x, y);
}

}  // namespace CAIRN_LEVEL
