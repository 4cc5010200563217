#pragma once

#include "cairn/types.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

/// Maps elements to unsigned keys in the order of argsort: both zeros are equal, all NaNs are equal, and NaN is the
/// largest.
namespace cairn::kernels::cpu {

/// Key of a float from its bits; magnitudes above `infinity` are NaN.
template <typename Bits>
Bits key_of_float(Bits bits, Bits infinity) noexcept {
    constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1)), all = static_cast<Bits>(~Bits{0});
    const Bits magnitude = static_cast<Bits>(bits & static_cast<Bits>(~sign));
    const Bits number = magnitude == 0 ? Bits{0} : bits;
    const Bits key = static_cast<Bits>(number ^ ((number & sign) != 0 ? all : sign));
    return magnitude > infinity ? all : key;
}
template <typename Bits>
Bits key_of_signed(Bits bits) noexcept {
    return static_cast<Bits>(bits ^ static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1)));
}

/// Calls f(an unsigned integer of the element's size, the function that maps its bits to a key).
template <typename F>
void with_keys(DType dtype, F f) {
    using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;
    switch (dtype) {
        case DType::f64:
            return f(uint64_t(), [](uint64_t x) { return key_of_float<uint64_t>(x, 0x7ff0000000000000u); });
        case DType::f32: return f(uint32_t(), [](uint32_t x) { return key_of_float<uint32_t>(x, 0x7f800000u); });
        case DType::f16: return f(uint16_t(), [](uint16_t x) { return key_of_float<uint16_t>(x, 0x7c00u); });
        case DType::bf16: return f(uint16_t(), [](uint16_t x) { return key_of_float<uint16_t>(x, 0x7f80u); });
        case DType::i64: return f(uint64_t(), [](uint64_t x) { return key_of_signed(x); });
        case DType::i32: return f(uint32_t(), [](uint32_t x) { return key_of_signed(x); });
        case DType::i8: return f(uint8_t(), [](uint8_t x) { return key_of_signed(x); });
        default: return f(uint8_t(), [](uint8_t x) { return x; });
    }
}

}  // namespace cairn::kernels::cpu
