#pragma once

#include "io/onnx_node/node.hpp"

#include <optional>
#include <vector>

namespace cairn::inline v0::onnx {

void make_if(Node& node);
void make_loop(Node& node);
void make_scan(Node& node);          ///< since operator set 9
void make_batched_scan(Node& node);  ///< of operator set 8

/// True or false if a value is one boolean that is known at import; empty otherwise.
std::optional<bool> known_condition(const ValuePtr& value);
/// True if one of the values is of a node that cannot be imported.
bool any_refused(const std::vector<ValuePtr>& values) noexcept;
/// Sets all outputs to values that cannot be imported, for a reason that was reported elsewhere.
void set_refused(Node& node);
/// The elements that no step of a loop has put out: a tensor without elements whose other sizes are those that the body
/// states for its output, or empty if it does not state them. `axis` is that of the steps.
std::optional<ValuePtr> no_elements(const ValueProto& output, std::int64_t axis);

}  // namespace cairn::inline v0::onnx
