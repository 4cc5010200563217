#pragma once

#include "io/onnx_node/node.hpp"

namespace cairn::inline v0::onnx {

void make_tf_idf_vectorizer(Node& node);

}  // namespace cairn::inline v0::onnx
