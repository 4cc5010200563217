#pragma once

#include "io/onnx_node/node.hpp"

/// Makers of products of tensors that have files of their own.
namespace cairn::inline v0::onnx {

void make_einsum(Node& node);
void make_det(Node& node);

}  // namespace cairn::inline v0::onnx
