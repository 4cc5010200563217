#pragma once

#include "graph/ir/graph_data.hpp"
#include "rewrite/alternatives/e_classes.hpp"

#include <cstddef>
#include <stop_token>
#include <utility>
#include <vector>

namespace cairn::fusion {

/// The nearest ancestors of each node: the values it is computed from, through any of their expressions.
class Ancestors {
public:
    /// Graph and classes must outlive this object.
    Ancestors(const ir::GraphData& graph, const alternatives::EClasses& classes, std::stop_token stop)
        : graph_(graph), classes_(classes), stop_(std::move(stop)) {}
    /// True if `node` is `ancestor`, is computed from it, or may be, because it has too many newer ancestors (256) to
    /// tell. Throws Cancelled on a stop.
    ///
    ///     %3 = add %2, %0    may_depend_on(3, 0) = true    may_depend_on(3, 1) = false, where %2 does not
    bool may_depend_on(ir::NodeId node, ir::NodeId ancestor);

private:
    void find();

    const ir::GraphData& graph_;
    const alternatives::EClasses& classes_;
    std::stop_token stop_;
    std::vector<std::size_t> start_;   // by node: where its list in `nearest_` starts
    std::vector<ir::NodeId> nearest_;  // newest first, the node itself in front
};

}  // namespace cairn::fusion
