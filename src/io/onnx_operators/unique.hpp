#pragma once

#include "io/onnx_node/node.hpp"

/// Operators whose results have a size that depends on elements; they are evaluated where these are known at import.
namespace cairn::inline v0::onnx {

bool fold_nonzero(Node& node);
bool fold_unique(Node& node);

}  // namespace cairn::inline v0::onnx
