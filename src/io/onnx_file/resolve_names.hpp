#pragma once

#include "io/onnx_file/model_proto.hpp"

#include <string_view>

namespace cairn::inline v0::onnx {

/// Checks the names of values in a model: each is defined once in its graph and is not one of an enclosing graph, and
/// each that is read is defined in its graph or an enclosing one. Puts nodes into an order of execution where the file
/// has them in another. Throws Error(file) that lists all faults: undefined and repeated names, and a cycle of nodes.
void resolve_names(ModelProto& model, std::string_view file);

}  // namespace cairn::inline v0::onnx
