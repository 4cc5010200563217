#pragma once

#include <bit>
#include <cstdint>

/// Conversions between f32 or f64 and the 16-bit formats. Values are rounded to nearest, ties to even. Overflow gives
/// infinity; subnormals are kept; a NaN stays a NaN, made quiet, with its sign and the upper bits of its payload.
/// Results do not depend on the processor's flush-to-zero modes. All branches can become selects, so loops vectorise.
namespace cairn::types {

/// IEEE 754 binary16 to f32, exact.
inline float f16_to_f32(std::uint16_t half) noexcept {
    const std::uint32_t sign = (std::uint32_t{half} & 0x8000u) << 16;
    const std::uint32_t magnitude = std::uint32_t{half} & 0x7fffu;
    constexpr std::uint32_t bias = 112u << 23;  // of the exponent: 127 - 15
    const std::uint32_t normal = (magnitude << 13) + bias;
    // m * 2^-24, computed as (0.5 + m * 2^-24) - 0.5; the sum has m in its lowest bits.
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(0x3f000000u | magnitude) - 0.5f);
    const std::uint32_t special = normal + bias;
    const std::uint32_t quiet = magnitude > 0x7c00u ? 0x00400000u : 0u;
    const std::uint32_t finite = magnitude < 0x0400u ? subnormal : normal;
    return std::bit_cast<float>(sign | (magnitude >= 0x7c00u ? special | quiet : finite));
}

/// f32 to IEEE 754 binary16.
inline std::uint16_t f32_to_f16(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    // Rounding to even at bit 13; a carry moves into the exponent, up to infinity.
    const std::uint32_t normal = (magnitude - (112u << 23) + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
    // Adding 0.5 rounds to a multiple of 2^-24 and leaves the multiple in the lowest bits.
    const float small = std::bit_cast<float>(magnitude < 0x38800000u ? magnitude : 0u);
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(small + 0.5f) - 0x3f000000u;
    const std::uint32_t special = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x03ffu) : 0x7c00u;
    const std::uint32_t finite = magnitude < 0x38800000u ? subnormal : normal;
    return static_cast<std::uint16_t>(sign | (magnitude >= 0x477ff000u ? special : finite));
}

/// bfloat16 to f32, exact.
inline float bf16_to_f32(std::uint16_t half) noexcept {
    const std::uint32_t quiet = (half & 0x7fffu) > 0x7f80u ? 0x00400000u : 0u;
    return std::bit_cast<float>((std::uint32_t{half} << 16) | quiet);
}

/// f32 to bfloat16.
inline std::uint16_t f32_to_bf16(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const std::uint32_t quiet = (bits >> 16) | 0x0040u;
    return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

/// f64 to f32, rounded to odd: an inexact result has its lowest bit set, so that a second rounding to a shorter format
/// gives what one rounding would have given.
inline float f64_to_f32_odd(double value) noexcept {
    const auto nearest = static_cast<float>(value);
    auto bits = std::bit_cast<std::uint32_t>(nearest);
    const double back = nearest;
    if (back == value || back != back) return nearest;
    const bool too_far = value < 0 ? back < value : back > value;
    if (too_far) --bits;  // towards zero
    return std::bit_cast<float>(bits | 1u);
}

/// f64 to IEEE 754 binary16, rounded once.
inline std::uint16_t f64_to_f16(double value) noexcept { return f32_to_f16(f64_to_f32_odd(value)); }

/// f64 to bfloat16, rounded once.
inline std::uint16_t f64_to_bf16(double value) noexcept { return f32_to_bf16(f64_to_f32_odd(value)); }

/// i64 to f64, rounded to odd: if the magnitude has 54 bits or more, the last 11 of 64 are merged into one sticky bit.
inline double i64_to_f64_odd(std::int64_t value) noexcept {
    const auto bits = static_cast<std::uint64_t>(value);
    const std::uint64_t magnitude = value < 0 ? 0 - bits : bits;
    const std::uint64_t odd = (magnitude & ~std::uint64_t{0x7ff}) | ((magnitude & 0x7ff) != 0 ? 0x800u : 0u);
    const auto exact = static_cast<double>(magnitude >> 53 != 0 ? odd : magnitude);
    return value < 0 ? -exact : exact;
}

}  // namespace cairn::types
