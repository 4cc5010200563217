#include "graph/ir/op_table.hpp"
#include "tests/long_fuzz/check.hpp"

#include <set>

namespace cairn::test {
namespace {

// The graph with some of its outputs, and with the values of `cut` replaced by inputs.
Graph rebuilt(const ir::GraphData& graph, const std::vector<ir::Output>& outputs, const std::set<ir::NodeId>& cut) {
    std::vector<bool> needed(graph.nodes().size(), false);
    for (const ir::Output& output : outputs) needed[output.node] = true;
    for (const ir::StateInfo& state : graph.states()) needed[state.latest] = needed[state.read] = true;
    for (ir::NodeId id = static_cast<ir::NodeId>(needed.size()); id-- > 0;)
        if (needed[id] && !cut.contains(id))
            for (const ir::NodeId operand : graph.node(id).operands) needed[operand] = true;
    auto result = std::make_shared<ir::GraphData>(graph.name(), graph.symbols());
    std::vector<ir::NodeId> map(graph.nodes().size(), 0);
    for (ir::NodeId id = 0; id < map.size(); ++id) {
        if (!needed[id]) continue;
        if (cut.contains(id)) {
            ir::Node leaf;
            leaf.op = ir::Op::input;
            leaf.dtype = graph.node(id).dtype;
            leaf.shape = graph.node(id).shape;
            leaf.name = "cut" + std::to_string(id);
            map[id] = result->intern(std::move(leaf));
        } else {
            map[id] = ir::copy_node(graph.node(id), map, *result);
        }
    }
    ir::GraphData ends(graph.name(), graph.symbols());
    ends.states() = graph.states();
    for (const ir::Output& output : outputs) ends.add_output(output.name, output.node);
    ir::copy_outputs_and_states(ends, map, *result);
    return Graph(result);
}

bool can_be_cut(const ir::GraphData& graph, ir::NodeId id) {
    const ir::Node& node = graph.node(id);
    return !ir::is(node, ir::OpClass::leaf) && !ir::is(node, ir::OpClass::effect);
}

}  // namespace

Graph shrunk(const Graph& graph, const std::function<bool(const Graph&)>& is_faulty) {
    const ir::GraphData& data = *graph.data();
    std::vector<ir::Output> outputs = data.outputs();
    std::set<ir::NodeId> cut;
    for (std::size_t i = outputs.size(); i-- > 0 && outputs.size() > 1;) {
        std::vector<ir::Output> fewer = outputs;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        if (is_faulty(rebuilt(data, fewer, cut))) outputs = std::move(fewer);
    }
    // Late values first: each cut removes all that only it needs.
    for (ir::NodeId id = static_cast<ir::NodeId>(data.nodes().size()); id-- > 0;) {
        if (!can_be_cut(data, id)) continue;
        std::set<ir::NodeId> more = cut;
        more.insert(id);
        if (is_faulty(rebuilt(data, outputs, more))) cut = std::move(more);
    }
    return rebuilt(data, outputs, cut);
}

}  // namespace cairn::test
