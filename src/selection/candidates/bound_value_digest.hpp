#pragma once

#include "graph/ir/graph_data.hpp"

#include <stop_token>
#include <string>
#include <vector>

/// Which values are made once, and from what.
namespace cairn::selection {

/// Of each node how its value is made from weights and constants alone, as a digest: equal where it is the same value,
/// in another bucket too. Empty where it is not made once when weights are bound: what depends on a run, and what is
/// repeated to a size known only there. Throws Cancelled on a stop.
std::vector<std::string> bound_value_digests(const ir::GraphData& graph, const std::stop_token& stop = {});

}  // namespace cairn::selection
