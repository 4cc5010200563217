#pragma once

#include "io/onnx_node/node.hpp"
#include "io/onnx_operators/wide.hpp"

namespace cairn::inline v0::onnx {

/// Sets output 0 of an operator on the dtype of input 0 that was computed in its wide dtype.
inline void set_narrowed(Node& node, const Tensor& y) { node.set(0, as_dtype(y, node.dtype(0))); }

}  // namespace cairn::inline v0::onnx
