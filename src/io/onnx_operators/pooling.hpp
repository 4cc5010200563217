#pragma once

#include "io/onnx_operators/spatial_windows.hpp"

/// Pooling, and makers of what has a file of its own.
namespace cairn::inline v0::onnx {

/// The windows of the attributes kernel_shape, strides, dilations, pads and auto_pad over input 0. Refuses padding that
/// holds whole windows.
WindowAxes pooling_windows(const Node& node);
/// The lowest value of a dtype: padding that is never the maximum.
double below_all_elements(DType dtype) noexcept;

/// The positions of the maxima in x: i64 [N, C, P1, ..].
Tensor max_pool_indices(const Node& node, const Tensor& x, const WindowAxes& axes);

void make_max_unpool(Node& node);

}  // namespace cairn::inline v0::onnx
