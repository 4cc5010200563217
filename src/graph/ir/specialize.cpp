#include "graph/ir/graph_data.hpp"

#include <algorithm>

namespace cairn::ir {
namespace {

std::vector<Dim> substituted(const std::vector<Dim>& list, Symbols& symbols, std::span<const Dim> replacements) {
    std::vector<Dim> result;
    result.reserve(list.size());
    for (const Dim& dim : list) result.push_back(dim.is_constant() ? dim : symbols.substitute(dim, replacements));
    return result;
}

}  // namespace

NodeId copy_node(const Node& node, const std::vector<NodeId>& map, GraphData& target) {
    Node copy = node;
    for (NodeId& operand : copy.operands) operand = map.at(operand);
    return target.intern(std::move(copy));
}

void copy_outputs_and_states(const GraphData& graph, const std::vector<NodeId>& map, GraphData& target) {
    for (StateInfo state : graph.states()) {
        state.read = map.at(state.read);
        state.latest = map.at(state.latest);
        state.shape = target.node(state.read).shape;
        target.states().push_back(std::move(state));
    }
    for (const Output& output : graph.outputs()) target.add_output(output.name, map.at(output.node));
}

std::shared_ptr<GraphData> specialize(const GraphData& graph, const std::shared_ptr<Symbols>& symbols,
                                      const std::vector<Dim>& replacements) {
    auto result = std::make_shared<GraphData>(graph.name(), symbols);
    std::vector<NodeId> map;
    map.reserve(graph.nodes().size());
    for (Node node : graph.nodes()) {
        node.shape = substituted(node.shape, *symbols, replacements);
        for (Attribute& attribute : node.attributes)
            if (auto* list = std::get_if<std::vector<Dim>>(&attribute.value))
                *list = substituted(*list, *symbols, replacements);
        map.push_back(copy_node(node, map, *result));
    }
    copy_outputs_and_states(graph, map, *result);
    return result;
}

}  // namespace cairn::ir
