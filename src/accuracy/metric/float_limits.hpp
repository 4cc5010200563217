#pragma once

#include "cairn/types.hpp"

/// Limits of floating-point dtypes that error bounds are made of.
namespace cairn::accuracy {

/// The unit roundoff: the largest relative error of rounding to nearest, half the distance from 1 to the next number.
/// Throws InternalError for integers.
///
///     unit_roundoff(DType::f32)   ->   2^-24
double unit_roundoff(DType dtype);

/// The smallest positive normal number. Throws InternalError for integers.
double smallest_normal(DType dtype);

/// The largest finite number. Throws InternalError for integers.
double largest_finite(DType dtype);

/// True if a number rounds to infinity in a dtype, or nearly does: it is within 16 roundings of largest_finite().
bool is_too_large(double number, DType dtype);

/// True if y is the infinity that replaces r in a dtype whose range r exceeds.
bool is_overflow(double y, double r, DType dtype);

/// True if a kernel may state this error: it is finite and at least 0.
bool is_valid_error_bound(double error);

}  // namespace cairn::accuracy
