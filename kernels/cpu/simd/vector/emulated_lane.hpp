#pragma once

#include "graph/types/half.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>

/// Instructions emulated for one element in plain arithmetic, bit-exact: the twins of instructions.hpp and
/// tile_registers.hpp, for machines and builds without the instructions. Kernels of real levels do not use them.
namespace cairn::kernels::cpu::lane {

/// x * 2^n, computed in double and rounded to float.
inline float scaled(float x, float n) noexcept {
    return n == n ? static_cast<float>(
                        static_cast<double>(x) *
                        std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1023) << 52))
                  : n;
}

template <typename T>
T part(std::int32_t lane, int index) noexcept {
    T value;
    std::memcpy(&value, reinterpret_cast<const char*>(&lane) + index * static_cast<int>(sizeof(T)), sizeof value);
    return value;
}

/// The exact sum of products of the lanes' parts, two of 16 bits or four of 8, which fits into an i64.
template <typename A, typename B>
std::int64_t dot(std::int32_t a, std::int32_t b) noexcept {
    std::int64_t sum = 0;
    for (int i = 0; i < static_cast<int>(4 / sizeof(A)); ++i) sum += std::int64_t{part<A>(a, i)} * part<B>(b, i);
    return sum;
}
inline std::int32_t wrapped(std::int64_t x) noexcept {
    return std::bit_cast<std::int32_t>(static_cast<std::uint32_t>(x));
}
template <typename T>
T saturated(std::int64_t x) noexcept {
    using Limits = std::numeric_limits<T>;
    return static_cast<T>(x < Limits::min() ? Limits::min() : x > Limits::max() ? Limits::max() : x);
}

/// vpmaddwd.
inline std::int32_t pairs_i16(std::int32_t a, std::int32_t b) noexcept {
    return wrapped(dot<std::int16_t, std::int16_t>(a, b));
}
/// vpmaddubsw: two sums of two products, each saturated to 16 bits.
inline std::int32_t pairs_u8_i8(std::int32_t a, std::int32_t b) noexcept {
    std::int16_t sums[2];
    for (int i = 0; i < 2; ++i)
        sums[i] = saturated<std::int16_t>(part<std::uint8_t>(a, 2 * i) * part<std::int8_t>(b, 2 * i) +
                                          part<std::uint8_t>(a, 2 * i + 1) * part<std::int8_t>(b, 2 * i + 1));
    return std::bit_cast<std::int32_t>(sums);
}
/// vpdpwssd, vpdpwssds, vpdpbusd, vpdpbusds.
inline std::int32_t dot_i16(std::int32_t sum, std::int32_t a, std::int32_t b) noexcept {
    return wrapped(sum + dot<std::int16_t, std::int16_t>(a, b));
}
inline std::int32_t dot_i16_saturated(std::int32_t sum, std::int32_t a, std::int32_t b) noexcept {
    return saturated<std::int32_t>(sum + dot<std::int16_t, std::int16_t>(a, b));
}
inline std::int32_t dot_u8_i8(std::int32_t sum, std::int32_t a, std::int32_t b) noexcept {
    return wrapped(sum + dot<std::uint8_t, std::int8_t>(a, b));
}
inline std::int32_t dot_u8_i8_saturated(std::int32_t sum, std::int32_t a, std::int32_t b) noexcept {
    return saturated<std::int32_t>(sum + dot<std::uint8_t, std::int8_t>(a, b));
}

/// The bf16 instructions flush subnormals to zero of the same sign, whatever the thread's floating-point modes.
inline float flushed(float x) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return (bits & 0x7f800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : x;
}

/// vcvtneps2bf16.
inline std::uint16_t to_bf16(float x) noexcept { return types::f32_to_bf16(flushed(x)); }

/// a * b + c, where a double holds the product exactly, rounded once to nearest even; subnormal operands and results
/// are zero. A result is subnormal if it is below 2^-126 after rounding to 24 bits with unbounded exponent.
inline float fused_flushed(float a, float b, float c) noexcept {
    const double product = static_cast<double>(flushed(a)) * flushed(b), addend = flushed(c);
    double sum = product + addend;
    // The rounding error of the sum (Knuth's exact addition) makes its last bit odd, so that the second rounding gives
    // the result of a single one.
    const double back = sum - product, lost = (product - (sum - back)) + (addend - back);
    if (std::isfinite(sum) && lost != 0 && (std::bit_cast<std::uint64_t>(sum) & 1) == 0)
        sum = std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) +
                                    ((lost > 0) == (sum > 0) ? 1 : ~std::uint64_t{0}));
    if (std::fabs(sum) < 0x1p-126 - 0x1p-151) return static_cast<float>(std::copysign(0.0, sum));
    return static_cast<float>(sum);
}

/// vdpbf16ps: the upper pair, then the lower one.
inline float dot_bf16(float sum, std::int32_t a, std::int32_t b) noexcept {
    for (const int i : {1, 0})
        sum = fused_flushed(types::bf16_to_f32(part<std::uint16_t>(a, i)),
                            types::bf16_to_f32(part<std::uint16_t>(b, i)), sum);
    return sum;
}

}  // namespace cairn::kernels::cpu::lane
