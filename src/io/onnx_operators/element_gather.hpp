#pragma once

#include "io/onnx_node/node.hpp"

namespace cairn::inline v0::onnx {

void make_gather_elements(Node& node);
bool fold_gather_elements(Node& node);
void make_gather_nd(Node& node);
bool fold_gather_nd(Node& node);

}  // namespace cairn::inline v0::onnx
