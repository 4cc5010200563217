#pragma once

#include "kernels/cpu/simd/vector/typed_vector.hpp"

/// A vector of doubles, the counterpart of vector.hpp: half as many lanes, and 64-bit masks. Levels without AVX-512
/// compare, shift and convert 64-bit integers one by one, or not at all. So integers are taken from the bits of
/// doubles, shifted as unsigned, and never compared.
namespace CAIRN_LEVEL {

using I64 = Vec<std::int64_t>;
using U64 = Vec<std::uint64_t>;

CAIRN_INLINE F64 splat(double x) { return vec_splat(x); }
CAIRN_INLINE U64 unsigned_bits(F64 x) { return std::bit_cast<U64>(x); }
CAIRN_INLINE F64 from_bits(U64 x) { return std::bit_cast<F64>(x); }
CAIRN_INLINE bool is_any_true(I64 mask) { return is_any_true(std::bit_cast<I32>(mask)); }

/// Converts the first or the last half of a vector of floats to doubles, and back with rounding.
CAIRN_INLINE F64 first_doubles(F32 x) { return to_doubles(lanes_from<0, vec_lanes<double>>(x)); }
CAIRN_INLINE F64 last_doubles(F32 x) { return to_doubles(lanes_from<vec_lanes<double>, vec_lanes<double>>(x)); }
CAIRN_INLINE F32 to_floats(F64 first, F64 last) {
    return concatenate(__builtin_convertvector(first, HalfF32), __builtin_convertvector(last, HalfF32));
}

CAIRN_INLINE F64 abs(F64 x) { return from_bits(unsigned_bits(x) & 0x7fffffffffffffffu); }
/// |x| with the sign of y.
CAIRN_INLINE F64 copy_sign(F64 x, F64 y) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return from_bits((unsigned_bits(x) & ~sign) | (unsigned_bits(y) & sign));
}
/// The larger number; NaN if either is NaN.
CAIRN_INLINE F64 max(F64 a, F64 b) { return a == a ? quick_max(a, b) : a; }
/// The smaller number; NaN if either is NaN.
CAIRN_INLINE F64 min(F64 a, F64 b) { return a == a ? quick_min(a, b) : a; }

/// Added to a number of magnitude below 2^51, leaves the nearest integer in the lowest bits of the sum.
inline constexpr double rounding_shift = 0x1.8p52;

/// The nearest integer, for |x| < 2^51.
CAIRN_INLINE F64 round_small(F64 x) { return (x + rounding_shift) - rounding_shift; }

/// The largest integer not above x.
CAIRN_INLINE F64 floor(F64 x) {
#if defined(CAIRN_HAS_FLOOR)
    return rounded_down(x);
#else
    const F64 whole = copy_sign((abs(x) + 0x1p52) - 0x1p52, x);
    const F64 down = whole > x ? whole - 1.0 : whole;
    // From 2^52 on (and for NaN) x is its own floor; the sign keeps -0.
    return abs(x) < 0x1p52 ? copy_sign(down, x) : x;
#endif
}

/// 2^n for integers n in -1022..1023.
CAIRN_INLINE F64 power_of_two(F64 n) { return from_bits(unsigned_bits(n + (rounding_shift + 1023)) << 52); }

/// x / 2^exponent, in [sqrt(1/2), sqrt(2)), for positive normal numbers; unspecified for others.
CAIRN_INLINE F64 split_exponent(F64 x, F64& exponent) {
    constexpr std::uint64_t one = std::bit_cast<std::uint64_t>(1.0),
                            low = std::bit_cast<std::uint64_t>(0x1.6a09e667f3bcdp-1);
    const U64 biased = ((unsigned_bits(x) + (one - low)) >> 52) & 0x7ffu;
    exponent = from_bits(biased | std::bit_cast<std::uint64_t>(0x1p52)) - (0x1p52 + 1023);
    return from_bits(unsigned_bits(x) - ((biased - 1023) << 52));
}
/// The same, also for subnormal numbers.
CAIRN_INLINE F64 split_any_exponent(F64 x, F64& exponent) {
    const I64 tiny = x < 0x1p-1022;
    const F64 m = split_exponent(tiny ? x * 0x1p54 : x, exponent);
    exponent = exponent - (tiny ? splat(54.0) : F64{});
    return m;
}

}  // namespace CAIRN_LEVEL
