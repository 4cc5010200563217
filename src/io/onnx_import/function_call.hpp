#pragma once

#include "io/onnx_file/model_proto.hpp"

namespace cairn::inline v0::onnx {

/// A node of a function's body in a call of the function: attributes that refer to those of the function have the
/// values that the call gives, or the function's defaults; those without either are left out.
NodeProto with_attributes(const NodeProto& node, const FunctionProto& function, const NodeProto& call);

}  // namespace cairn::inline v0::onnx
