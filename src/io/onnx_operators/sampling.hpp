#pragma once

#include "io/onnx_node/node.hpp"

/// Makers of operators that sample images at computed places.
namespace cairn::inline v0::onnx {

void make_grid_sample(Node& node);
void make_roi_align(Node& node);

}  // namespace cairn::inline v0::onnx
