#pragma once

#include "io/onnx_node/node.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

/// Numbers computed at import that become weights of the model.
namespace cairn::inline v0::onnx {

/// A weight called after output 0 of the node and `part`, or a constant if it is small: i32.
Tensor stored_integers(Node& node, std::string_view part, std::vector<std::int64_t> dims,
                       const std::vector<std::int32_t>& elements);
/// The same of f32 or f64.
Tensor stored_floats(Node& node, std::string_view part, std::vector<std::int64_t> dims,
                     const std::vector<double>& elements, DType dtype);

/// The numbers of a tensor that an attribute holds, of f32, f64, or integers of up to 32 bits.
std::vector<double> numbers_of(const Node& node, const TensorProto& tensor);

}  // namespace cairn::inline v0::onnx
