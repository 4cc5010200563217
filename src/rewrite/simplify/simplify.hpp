#pragma once

#include "graph/ir/graph_data.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace cairn::simplify {

struct Rule;

struct Options {
    /// Constant folding makes no constant of more elements than this.
    std::int64_t fold_limit = 4096;
    /// Names of rules not to use.
    std::vector<std::string> disabled;
    std::stop_token stop = {};  ///< throws Cancelled
    /// The device where all values lie, when there is but one: a copy_to that says so says nothing.
    std::optional<Device> only_device = {};
};

struct Simplified {
    std::shared_ptr<ir::GraphData> graph;
    /// For each node of the old graph the node that now has its value; nothing when it was dropped as dead.
    std::vector<std::optional<ir::NodeId>> map;
    bool changed = false;
};

/// A graph with the same inputs, weights, states, outputs and values, and fewer nodes:
///
///     %2 = mul %0, %1(=1)                      output "y" %4  ->  output "y" %1'
///     %3 = neg %2
///     %4 = neg %3
///
/// Rules run to a fixed point, equal nodes are merged, dead ones dropped; simplify(simplify(g)) changes nothing. Comes
/// first in the pipeline, so that all later stages see one spelling.
Simplified simplify(const ir::GraphData& graph, const Options& options = {});

/// The same with rules of the caller's choice, so that tests can slip in a wrong one.
Simplified simplify_with_rules(const ir::GraphData& graph, std::span<const Rule> rules, const Options& options = {});

}  // namespace cairn::simplify
