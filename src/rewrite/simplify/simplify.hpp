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

/// Options of simplify().
struct Options {
    /// Maximum number of elements of a constant made by constant folding.
    std::int64_t fold_limit = 4096;
    /// Names of disabled rules.
    std::vector<std::string> disabled;
    std::stop_token stop = {};  ///< a requested stop throws Cancelled
    /// Set if the graph uses a single device: a copy_to that device is then redundant.
    std::optional<Device> only_device = {};
};

/// Result of simplify().
struct Simplified {
    std::shared_ptr<ir::GraphData> graph;
    /// For each node of the old graph, the node of the new graph with its value; nothing if it was removed as dead.
    std::vector<std::optional<ir::NodeId>> map;
    bool changed = false;
};

/// Returns a graph with the same inputs, weights, states, outputs and values, and fewer nodes:
///
///     %2 = mul %0, %1(=1)                      output "y" %4  ->  output "y" %1'
///     %3 = neg %2
///     %4 = neg %3
///
/// Applies the rules to a fixed point, merges equal nodes and removes dead ones; simplify(simplify(g)) changes nothing.
/// It is the first stage of the pipeline, so that all later stages see one expression of a value.
Simplified simplify(const ir::GraphData& graph, const Options& options = {});

/// simplify() with the caller's rules; tests use it to apply a wrong one.
Simplified simplify_with_rules(const ir::GraphData& graph, std::span<const Rule> rules, const Options& options = {});

}  // namespace cairn::simplify
