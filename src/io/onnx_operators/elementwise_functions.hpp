#pragma once

#include "cairn/ops.hpp"

/// Elementwise functions that are no op of their own, for f32 and f64. They keep the sign of zero, are accurate to a
/// few units in the last place down to the smallest numbers, and overflow only where the function does.
namespace cairn::inline v0::onnx {

/// e^x - 1 for x <= 0.
Tensor exp_minus_one_below_zero(const Tensor& x);
/// log(1 + x).
Tensor log_one_plus(const Tensor& x);

Tensor tan_of(const Tensor& x);
Tensor sinh_of(const Tensor& x);
Tensor cosh_of(const Tensor& x);
Tensor asin_of(const Tensor& x);
Tensor acos_of(const Tensor& x);
Tensor atan_of(const Tensor& x);
Tensor asinh_of(const Tensor& x);
Tensor acosh_of(const Tensor& x);
Tensor atanh_of(const Tensor& x);

}  // namespace cairn::inline v0::onnx
