#pragma once

#include "graph/ir/graph_data.hpp"
#include "rewrite/alternatives/e_classes.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

namespace cairn::fusion {

using alternatives::EClasses;

/// An extraction of a graph: one expression of each value is followed, the one of index `number`, or the last if there
/// are fewer. Expressions that are views of another value are skipped: they compute nothing.
///
///     %4 = mul %2, %1 (=%5)      number 0: operands(%6) = {%4}
///     %6 = tanh %4               number 1: operands(%6) = {%5}
class Extraction {
public:
    explicit Extraction(const ir::GraphData& graph) : graph_(graph) {}
    /// `classes` must belong to the graph.
    Extraction(const ir::GraphData& graph, const EClasses& classes, std::size_t number);

    std::span<const ir::NodeId> operands(ir::NodeId id) const {
        const auto it = changed_.find(id);
        if (it != changed_.end()) return it->second.operands;
        return {graph_.node(id).operands.begin(), graph_.node(id).operands.size()};
    }
    /// The largest number of expressions to choose from at an operand.
    std::size_t choices(ir::NodeId id) const {
        const auto it = changed_.find(id);
        return it == changed_.end() ? 1 : it->second.choices;
    }

private:
    struct Changed {
        std::vector<ir::NodeId> operands;
        std::size_t choices;
    };
    const ir::GraphData& graph_;
    std::unordered_map<ir::NodeId, Changed> changed_;  // nodes with an operand of several expressions
};

}  // namespace cairn::fusion
