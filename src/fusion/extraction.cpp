#include "fusion/extraction.hpp"

#include "graph/ir/op_table.hpp"

namespace cairn::fusion {

using ir::NodeId;

namespace {

// The first expression, and those that compute something.
std::vector<NodeId> followed(const ir::GraphData& graph, std::span<const NodeId> expressions) {
    std::vector<NodeId> result;
    for (const NodeId id : expressions)
        if (id == expressions[0] || !ir::is(graph.node(id), ir::OpClass::movement)) result.push_back(id);
    return result;
}

}  // namespace

Extraction::Extraction(const ir::GraphData& graph, const EClasses& classes, std::size_t number) : graph_(graph) {
    if (classes.have_one_expression_each()) return;
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
        Changed changed{{}, 1};
        for (const NodeId operand : graph.node(id).operands) {
            const std::vector<NodeId> all = followed(graph, classes.expressions(classes.value_of(operand)));
            changed.operands.push_back(all[std::min(number, all.size() - 1)]);
            changed.choices = std::max(changed.choices, all.size());
        }
        const auto& operands = graph.node(id).operands;
        const bool is_same = std::equal(operands.begin(), operands.end(), changed.operands.begin());
        if (changed.choices > 1 || !is_same) changed_.emplace(id, std::move(changed));
    }
}

}  // namespace cairn::fusion
