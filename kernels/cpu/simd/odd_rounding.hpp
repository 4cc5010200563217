#pragma once

#include "kernels/cpu/simd/double_vector.hpp"
#include "types/half.hpp"

/// Doubles and integers of 64 bits to floats, rounded to odd, as types/half.hpp does it: an inexact result has its
/// lowest bit set, so that rounded once more, to f16 or bf16, it is what one rounding would have given.
namespace CAIRN_LEVEL {

/// The lowest `count` bits as one, the first above them: set where it was, or any of them was.
template <int count>
CAIRN_INLINE U64 with_low_bits_as_one(U64 x) {
    constexpr std::uint64_t low = (std::uint64_t{1} << count) - 1;
    return (x | ((x & low) + low)) & ~low;
}

/// Of doubles that are no subnormal floats.
CAIRN_INLINE HalfF32 normal_to_odd(F64 x) {
    return __builtin_convertvector(from_bits(with_low_bits_as_one<29>(unsigned_bits(x))), HalfF32);
}
CAIRN_INLINE HalfF32 to_odd(F64 x) {
    const F64 a = abs(x);
    if (!is_any_true((a < 0x1p-126) & (a != 0.0))) return normal_to_odd(x);
    HalfF32 r;
    for (int i = 0; i < wide_lanes<double>; ++i) r[i] = types::f64_to_f32_odd(x[i]);
    return r;
}
CAIRN_INLINE HalfF32 to_odd(I64 x) {
    constexpr double least = 0x1p52;  // the double whose lowest bits are an integer's
    const U64 bits = std::bit_cast<U64>(x);
    // The upper half, with its sign, times 2^32.
    const F64 upper =
        from_bits(((bits >> 32) ^ 0x80000000u) | std::bit_cast<std::uint64_t>(0x1p84)) - (0x1p84 + 0x1p63);
    const U64 low = bits & 0xffffffffu;
    // Of large numbers so many bits are left that the sum is exact.
    const F64 all = from_bits(low | std::bit_cast<std::uint64_t>(least)) - least;
    const F64 some = from_bits(with_low_bits_as_one<11>(low) | std::bit_cast<std::uint64_t>(least)) - least;
    return normal_to_odd(upper + (abs(upper) < 0x1p50 ? all : some));
}

}  // namespace CAIRN_LEVEL
