#pragma once

#include "graph/ir/graph_data.hpp"

#include <algorithm>

namespace cairn::test {

/// Number of nodes of the graph that are `op`, dead ones included.
inline std::size_t count(const ir::GraphData& graph, ir::Op op) {
    return static_cast<std::size_t>(std::ranges::count(graph.nodes(), op, &ir::Node::op));
}

}  // namespace cairn::test
