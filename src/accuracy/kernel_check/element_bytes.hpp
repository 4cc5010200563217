#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// Elements in memory: copied as bytes, and the encodings of f16 and bf16, implemented independently of
/// graph/types/half.hpp.
namespace cairn::kernel_check {

template <typename T>
void put(std::byte* to, T value) {
    std::memcpy(to, &value, sizeof value);
}
template <typename T>
T get(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// The value of an f16, or of a bf16.
inline double decode16(std::uint16_t bits, bool is_half) {
    if (!is_half) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    const auto exponent = (bits >> 10) & 31u, mantissa = bits & 1023u;
    const double magnitude = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                             : exponent == 0 ? mantissa * 0x1p-24
                                             : std::bit_cast<float>((exponent + 112) << 23 | mantissa << 13);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// `value` must be exactly representable in the format.
inline std::uint16_t encode16(double value, bool is_half) {
    const std::uint16_t infinity = is_half ? 0x7c00 : 0x7f80, sign = std::signbit(value) ? 0x8000 : 0;
    // Quiet, as in a double: its bits are those of the reference too.
    if (std::isnan(value)) return static_cast<std::uint16_t>(infinity + (is_half ? 0x200 : 0x40));
    const double magnitude = std::fabs(value);
    const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude));
    const std::uint32_t bits = !is_half                ? single >> 16
                               : std::isinf(magnitude) ? infinity
                               : magnitude < 0x1p-14   ? static_cast<std::uint32_t>(magnitude * 0x1p24)
                                                       : (single >> 13) - (112u << 10);
    return static_cast<std::uint16_t>(sign | bits);
}

}  // namespace cairn::kernel_check
