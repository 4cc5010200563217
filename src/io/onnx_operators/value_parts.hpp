#pragma once

#include "io/onnx_node/value.hpp"

#include <vector>

/// Parts of values along an axis, and values joined from parts. Elements known at import stay known.
namespace cairn::inline v0::onnx {

/// The elements start .. stop - 1 of an axis, counted from the front.
ValuePtr part_of(const Value& value, const Graph& graph, int axis, const Dim& start, const Dim& stop);
/// The parts of these lengths along an axis, in order. Throws Refusal if their sum is not the size of the axis.
std::vector<ValuePtr> parts_of(const Value& value, const Graph& graph, int axis, const Shape& lengths);
/// The value without an axis, whose size is 1.
ValuePtr without_axis(const ValuePtr& value, const Graph& graph, int axis);
/// The element `index` of an axis, which is removed.
ValuePtr item_of(const Value& value, const Graph& graph, int axis, std::int64_t index);
/// Values joined along an axis; at least one.
ValuePtr joined(const std::vector<ValuePtr>& values, const Graph& graph, int axis);
/// Values joined along a new axis; at least one.
ValuePtr stacked(const std::vector<ValuePtr>& values, const Graph& graph, int axis);

}  // namespace cairn::inline v0::onnx
