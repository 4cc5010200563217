#pragma once

#include "cairn/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cairn::inline v0 {

/// Operand type of the multiplications that a Cost counts. Together with a kernel's FeatureSet it determines the Unit,
/// so that one cost serves the same code at all instruction set levels.
enum class Arithmetic : std::uint8_t {
    f32,   ///< also everything without a unit of its own: f64, integers, the arithmetic of elementwise functions
    f16,   ///< summed in f16
    bf16,  ///< summed in f32
    i16,   ///< summed in 32 bits
    i8,    ///< summed in 32 bits
    tf32   ///< f32 rounded to 10 bits of mantissa, summed in f32: not on CPUs
};
inline constexpr std::size_t arithmetic_count = 6;  ///< number of Arithmetics
/// The enumerator's name: `f32`, `f16`, ...
CAIRN_API std::string_view to_string(Arithmetic arithmetic) noexcept;

/// Multiply-accumulate units of a CPU, as calibration measures them: the arithmetic and the instructions.
enum class Unit : std::uint8_t {
    f32_baseline,     ///< multiplications and additions of 128 bits
    f32_avx2,         ///< multiply-adds of 256 bits
    f32_avx512,       ///< multiply-adds of 512 bits
    f16_avx512,       ///< multiply-adds of 512 bits
    bf16_avx512,      ///< vdpbf16ps
    i16_avx2,         ///< vpmaddwd and an addition, 256 bits
    i16_avx512,       ///< vpmaddwd and an addition, 512 bits
    i16_avx_vnni,     ///< vpdpwssd, 256 bits
    i16_avx512_vnni,  ///< vpdpwssd, 512 bits
    i8_avx2,          ///< vpmaddubsw, vpmaddwd and an addition, 256 bits
    i8_avx512,        ///< vpmaddubsw, vpmaddwd and an addition, 512 bits
    i8_avx_vnni,      ///< vpdpbusd, 256 bits
    i8_avx512_vnni,   ///< vpdpbusd, 512 bits
    bf16_amx,         ///< tdpbf16ps
    i8_amx            ///< tdpbusd
};
inline constexpr std::size_t unit_count = 15;  ///< number of Units
/// The enumerator's name: `f32_avx2`, ...
CAIRN_API std::string_view to_string(Unit unit) noexcept;

}  // namespace cairn::inline v0
