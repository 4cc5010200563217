#include "cairn/ports.hpp"

#include "graph/ir/graph_data.hpp"

#include <iterator>
#include <utility>

namespace cairn::inline v0 {
namespace {

using ir::Node, ir::NodeId, ir::Op;

bool takes_indices(Op op) { return op == Op::gather || op == Op::scatter || op == Op::take_along_axis; }

void tighten(std::optional<Dim>& limit, const Dim& other) { limit = limit ? min(*limit, other) : other; }

/// For each node, the size of the smallest axis that it, or an integer computed from it, indexes.
std::vector<std::optional<Dim>> index_limits(const ir::GraphData& graph) {
    std::vector<std::optional<Dim>> limits(graph.nodes().size());
    for (std::size_t i = limits.size(); i-- > 0;) {
        const Node& node = graph.node(static_cast<NodeId>(i));
        if (takes_indices(node.op)) {
            const Shape& table = graph.node(node.operands[0]).shape;
            const std::int64_t axis = node.attributes.integer("axis");
            tighten(limits[node.operands[1]],
                    table[static_cast<std::size_t>(static_cast<std::int64_t>(table.size()) + axis)]);
        }
        if (!limits[i] || !is_integer(node.dtype)) continue;
        for (std::size_t k = 0; k < node.operands.size(); ++k)
            if (is_integer(graph.node(node.operands[k]).dtype) && !(takes_indices(node.op) && k == 1))
                tighten(limits[node.operands[k]], *limits[i]);
    }
    return limits;
}

GraphPort port_of(GraphPort::Kind kind, const Node& node, std::string name) {
    return {kind, std::move(name), node.dtype, node.shape};
}

}  // namespace

std::vector<GraphPort> ports(const Graph& graph) {
    const ir::GraphData& data = *graph.data();
    const std::vector<std::optional<Dim>> limits = index_limits(data);
    std::vector<GraphPort> inputs, all;
    for (std::size_t i = 0; i < data.nodes().size(); ++i) {
        const Node& node = data.node(static_cast<NodeId>(i));
        if (node.op == Op::input) {
            inputs.push_back(port_of(GraphPort::Kind::input, node, node.name));
            if (is_integer(node.dtype)) inputs.back().index_limit = limits[i];
        }
        if (node.op == Op::weight) all.push_back(port_of(GraphPort::Kind::weight, node, node.name));
    }
    all.insert(all.begin(), std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end()));
    for (const ir::StateInfo& state : data.states()) {
        GraphPort& port = all.emplace_back(port_of(GraphPort::Kind::state, data.node(state.read), state.name));
        if (!state.grows()) continue;
        port.axis = static_cast<int>(state.growing_axis());
        port.capacity = state.capacity;
    }
    for (const ir::Output& output : data.outputs())
        all.push_back(port_of(GraphPort::Kind::output, data.node(output.node), output.name));
    return all;
}

}  // namespace cairn::inline v0
