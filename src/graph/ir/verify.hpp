#pragma once

#include "graph/ir/graph_data.hpp"

#include <string>

namespace cairn::ir {

/// The first thing wrong with a graph, in words; empty when all is well: operands come first, shapes and dtypes are
/// what infer() says, names are distinct, states consistent. Run after each stage in debug builds and tests.
std::string verify(const GraphData& graph);

}  // namespace cairn::ir
