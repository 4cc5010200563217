#pragma once

#include "graph/ir/graph_data.hpp"

#include <string>

namespace cairn::ir {

/// Describes the first fault of a graph; empty if it is valid: operands precede their users, shapes and dtypes are
/// those of infer(), names are distinct, states are consistent. Run after each stage in debug builds and tests.
std::string verify(const GraphData& graph);

}  // namespace cairn::ir
