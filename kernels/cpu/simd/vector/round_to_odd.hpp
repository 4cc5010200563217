#pragma once

#include "graph/types/half.hpp"
#include "kernels/cpu/simd/vector/double_vector.hpp"

/// Doubles and integers to floats, rounded to odd, as in graph/types/half.hpp: an inexact result has its lowest bit
/// set, so that a second rounding, to f16 or bf16, gives the result of a single one.
namespace CAIRN_LEVEL {

/// Replaces the lowest `count` bits by zeros and sets the bit above them if any of them was set.
template <int count>
CAIRN_INLINE U64 with_low_bits_as_one(U64 x) {
    constexpr std::uint64_t low = (std::uint64_t{1} << count) - 1;
    return (x | ((x & low) + low)) & ~low;
}

/// For doubles that are not subnormal as floats.
CAIRN_INLINE HalfF32 normal_to_odd(F64 x) {
    return __builtin_convertvector(from_bits(with_low_bits_as_one<29>(unsigned_bits(x))), HalfF32);
}
CAIRN_INLINE F32 to_odd(F64 first, F64 last) {
    const F32 all = concatenate(normal_to_odd(first), normal_to_odd(last));
    if (!is_any_true(abs(all) < 0x1p-126f)) return all;
    const auto is_subnormal = [](F64 x) { return (abs(x) < 0x1p-126) & (x != 0.0); };
    if (!is_any_true(is_subnormal(first) | is_subnormal(last))) return all;
    constexpr int half = vec_lanes<double>;
    F32 r;
    for (int i = 0; i < lanes; ++i) r[i] = types::f64_to_f32_odd(i < half ? first[i] : last[i - half]);
    return r;
}
CAIRN_INLINE HalfF32 large_to_odd(U64 bits) {
    constexpr double least = 0x1p52;  // the double whose lowest bits are an integer's
    // The upper half, with its sign, times 2^32.
    const F64 upper =
        from_bits(((bits >> 32) ^ 0x80000000u) | std::bit_cast<std::uint64_t>(0x1p84)) - (0x1p84 + 0x1p63);
    const U64 low = bits & 0xffffffffu;
    // Large numbers keep few enough bits that the sum is exact.
    const F64 all = from_bits(low | std::bit_cast<std::uint64_t>(least)) - least;
    const F64 some = from_bits(with_low_bits_as_one<11>(low) | std::bit_cast<std::uint64_t>(least)) - least;
    return normal_to_odd(upper + (abs(upper) < 0x1p50 ? all : some));
}
/// From 2^24 on the low 8 bits are merged into the bit above, which a float holds exactly.
CAIRN_INLINE F32 to_odd(I32 x) {
    const I32 kept = (x | ((x & 0xff) + 0xff)) & ~0xff;
    return to_float((x < (1 << 24)) & (x > -(1 << 24)) ? x : kept);
}
CAIRN_INLINE F32 to_odd(I64 first, I64 last) {
    constexpr int lower = std::endian::native == std::endian::little ? 0 : 1;
    const I32 a = std::bit_cast<I32>(first), b = std::bit_cast<I32>(last);
    const I32 low = every_second<lower, 1>(a, b), high = every_second<1 - lower, 1>(a, b);
    if (!is_any_true(high != low >> 31)) return to_odd(low);
    return concatenate(large_to_odd(std::bit_cast<U64>(first)), large_to_odd(std::bit_cast<U64>(last)));
}

}  // namespace CAIRN_LEVEL
