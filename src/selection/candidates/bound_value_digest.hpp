#pragma once

#include "graph/ir/graph_data.hpp"

#include <stop_token>
#include <string>
#include <vector>

/// Digests of the values that are computed once, when weights are bound.
namespace cairn::selection {

/// For each node a digest of its computation from weights and constants alone: equal for equal values, in other buckets
/// too. Empty if the value is not computed once at bind: if it depends on a run, or is repeated to a size known only in
/// a run. Throws Cancelled on a stop.
std::vector<std::string> bound_value_digests(const ir::GraphData& graph, const std::stop_token& stop = {});

}  // namespace cairn::selection
