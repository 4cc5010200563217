#pragma once

#include "io/onnx_file/message_reader.hpp"
#include "io/onnx_file/model_proto.hpp"

/// Reads TensorProto messages.
namespace cairn::inline v0::onnx {

/// Reads and checks one message; what it throws is said at parse_model().
TensorProto read_tensor(std::span<const std::byte> bytes, const Place& place);
/// Reads the name of a SparseTensorProto, that of its values.
std::string read_sparse_name(std::span<const std::byte> bytes, const Place& place);
/// An element type by number.
ElementType element_type_of(std::int64_t number, const Place& place);
/// Reads a StringStringEntryProto into a map. Fails for a key that it has already.
void read_entry(std::span<const std::byte> bytes, const Place& place, std::map<std::string, std::string>& to);

}  // namespace cairn::inline v0::onnx
