#pragma once

#include "io/onnx_node/node.hpp"

namespace cairn::inline v0::onnx {

/// ScatterElements, and Scatter of older operator sets.
void make_scatter_elements(Node& node);
bool fold_scatter_elements(Node& node);
void make_scatter_nd(Node& node);
bool fold_scatter_nd(Node& node);

}  // namespace cairn::inline v0::onnx
