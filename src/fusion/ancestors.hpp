#pragma once

#include "graph/ir/graph_data.hpp"
#include "rewrite/alternatives/e_classes.hpp"

#include <cstddef>
#include <stop_token>
#include <utility>
#include <vector>

namespace cairn::fusion {

/// The nearest values that each node is computed from, in any of their spellings.
class Ancestors {
public:
    /// Graph and classes must outlive it.
    Ancestors(const ir::GraphData& graph, const alternatives::EClasses& classes, std::stop_token stop)
        : graph_(graph), classes_(classes), stop_(std::move(stop)) {}
    /// True when `node` is `ancestor` or computed from it, or from so many values above it (256) that it may be. Throws
    /// Cancelled on a stop.
    ///
    ///     %3 = add %2, %0    may_depend_on(3, 0) = true    may_depend_on(3, 1) = false, where %2 does not
    bool may_depend_on(ir::NodeId node, ir::NodeId ancestor);

private:
    void find();

    const ir::GraphData& graph_;
    const alternatives::EClasses& classes_;
    std::stop_token stop_;
    std::vector<std::size_t> start_;   // of each node's list in `nearest_`
    std::vector<ir::NodeId> nearest_;  // newest first, the node itself at the front
};

}  // namespace cairn::fusion
