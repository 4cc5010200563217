#include "graph/ir/graph_data.hpp"
#include "graph/ir/op_table.hpp"

#include <algorithm>

namespace cairn::ir {
namespace {

bool all_constant(const std::vector<Dim>& dims) {
    return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_constant(); });
}

bool has_constant_sizes(const Node& node) {
    return all_constant(node.shape) &&
           std::all_of(node.attributes.begin(), node.attributes.end(), [](const Attribute& attribute) {
               const auto* list = std::get_if<std::vector<Dim>>(&attribute.value);
               return list == nullptr || all_constant(*list);
           });
}

}  // namespace

std::vector<int> use_counts(const GraphData& graph) {
    std::vector<int> counts(graph.nodes().size(), 0);
    for (const Node& node : graph.nodes())
        for (const NodeId operand : node.operands) ++counts[operand];
    for (const Output& output : graph.outputs()) ++counts[output.node];
    for (const StateInfo& state : graph.states()) ++counts[state.latest];
    return counts;
}

std::vector<bool> live_nodes(const GraphData& graph) {
    std::vector<bool> live(graph.nodes().size(), false);
    for (const Output& output : graph.outputs()) live[output.node] = true;
    for (const StateInfo& state : graph.states()) live[state.latest] = true;
    for (std::size_t i = live.size(); i-- > 0;) {
        if (!live[i]) continue;
        for (const NodeId operand : graph.node(static_cast<NodeId>(i)).operands) live[operand] = true;
    }
    return live;
}

std::vector<bool> bind_time_nodes(const GraphData& graph) {
    std::vector<bool> bound(graph.nodes().size(), false);
    for (std::size_t i = 0; i < bound.size(); ++i) {
        const Node& node = graph.node(static_cast<NodeId>(i));
        if (node.op == Op::input || node.op == Op::state_read || !has_constant_sizes(node)) continue;
        bound[i] = std::all_of(node.operands.begin(), node.operands.end(), [&](NodeId id) { return bound[id]; });
    }
    return bound;
}

std::optional<NodeId> state_origin(const GraphData& graph, NodeId version) {
    while (is(graph.node(version), OpClass::effect) && !graph.node(version).operands.empty())
        version = graph.node(version).operands[0];
    return graph.node(version).op == Op::state_read ? std::optional(version) : std::nullopt;
}

std::vector<Dim> dims(const std::vector<int>& values) { return {values.begin(), values.end()}; }

}  // namespace cairn::ir
