#pragma once

#include "io/onnx_node/node.hpp"
#include "io/onnx_operators/elementwise_functions.hpp"
#include "io/onnx_operators/wide.hpp"

/// Activation functions that are no op of their own, for f32 and f64.
namespace cairn::inline v0::onnx {

/// x from 0 on, `slope` * x below.
inline Tensor leaky_relu_of(const Tensor& x, const Operand& slope) { return where(x < 0, x * slope, x); }
/// x from 0 on, `scale` * (e^(x / width) - 1) below.
inline Tensor elu_of(const Tensor& x, double scale, double width = 1) {
    return where(x < 0, exp_minus_one_below_zero(width == 1 ? x : x / width) * scale, x);
}
/// min(max(a x + b, 0), 1).
inline Tensor hard_sigmoid_of(const Tensor& x, double a, double b) { return clamp(x * a + b, 0, 1); }
/// x sigmoid(alpha x).
inline Tensor swish_of(const Tensor& x, double alpha) { return alpha == 1 ? silu(x) : x * sigmoid(x * alpha); }
/// log(1 + e^x).
inline Tensor softplus_of(const Tensor& x) { return max(x, 0) + log_one_plus(exp(-abs(x))); }
/// x / (1 + |x|).
inline Tensor softsign_of(const Tensor& x) { return x / (1 + abs(x)); }

/// Sets output 0 of an operator on the dtype of input 0 that was computed in its wide dtype.
inline void set_narrowed(Node& node, const Tensor& y) { node.set(0, as_dtype(y, node.dtype(0))); }

}  // namespace cairn::inline v0::onnx
