#pragma once

#include "cairn/types.hpp"

#include <cstdint>

/// Conversion of single numbers to the elements that a graph stores: rounded to a dtype.
namespace cairn::ir {

/// `value` as an element of `dtype`, by the rule of `cast`: nearest even between floats (overflow gives infinity),
/// truncation and saturation to integers (NaN gives 0), `value != 0` to boolean. Every NaN becomes the same one.
///
///     round_to(DType::bf16, 1.01)   // 1.0078125
///     round_to(DType::u8, -3.7)     // 0
double round_to(DType dtype, double value) noexcept;

/// The same for integer and boolean targets, exact for all of i64.
std::int64_t truncate_to(DType dtype, double value) noexcept;
/// An integer as an element of a float dtype, rounded once.
double round_integer(DType dtype, std::int64_t value) noexcept;
/// `value` reduced modulo 2^bits to an integer dtype, as integer arithmetic wraps; to boolean `value != 0`.
std::int64_t wrap_to(DType dtype, std::int64_t value) noexcept;
/// `value` clamped to the range of an integer dtype, as `cast` between integers does; to boolean `value != 0`.
std::int64_t saturate_to(DType dtype, std::int64_t value) noexcept;

/// The range of an integer dtype (0 and 1 for boolean).
std::int64_t lowest_integer(DType dtype) noexcept;
std::int64_t highest_integer(DType dtype) noexcept;
/// True when an element of `dtype` can be exactly `value`, or `dtype` is a float (which rounds).
bool can_hold(DType dtype, double value) noexcept;
bool can_hold_integer(DType dtype, std::int64_t value) noexcept;
/// True if the integer is representable as a double: at most 53 significant bits.
bool is_exact_double(std::int64_t value) noexcept;

}  // namespace cairn::ir
