#pragma once

#include "io/onnx_node/node.hpp"

/// Products of tensors.
namespace cairn::inline v0::onnx {

void make_einsum(Node& node);
void make_det(Node& node);

/// As NumPy's matmul: an operand of one axis is a row on the left and a column on the right, without that axis in the
/// result.
Tensor numpy_matmul(const Node& node, const Tensor& a, const Tensor& b);

}  // namespace cairn::inline v0::onnx
