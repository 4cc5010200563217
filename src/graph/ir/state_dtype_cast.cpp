#include "graph/ir/state_dtype_cast.hpp"

#include "graph/ir/op_table.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace cairn::ir {
namespace {

/// True for each state_read whose state can be stored in `dtype`.
std::vector<bool> storable_leaves(const GraphData& graph, DType dtype) {
    std::vector<bool> storable(graph.nodes().size(), false);
    for (const StateInfo& state : graph.states())
        storable[state.read] = state.grows() && state.latest != state.read && is_widening(dtype, state.dtype);
    for (const Node& node : graph.nodes())
        if (is(node, OpClass::effect) && node.op != Op::state_append)
            if (const auto origin = state_origin(graph, node.operands[0])) storable[*origin] = false;
    return storable;
}

class StateDTypeRewriter {
public:
    StateDTypeRewriter(const GraphData& graph, DType dtype)
        : graph_(graph),
          dtype_(dtype),
          storable_(storable_leaves(graph, dtype)),
          result_(std::make_shared<GraphData>(graph.name(), graph.symbols())) {}

    std::shared_ptr<GraphData> run() {
        if (std::find(storable_.begin(), storable_.end(), true) == storable_.end()) return nullptr;
        for (NodeId id = 0; id < graph_.nodes().size(); ++id) values_.push_back(copy(id));
        for (StateInfo state : graph_.states()) {
            if (values_[state.read].is_stored) state.public_dtype = std::exchange(state.dtype, dtype_);
            state.read = values_[state.read].node;
            state.latest = values_[state.latest].node;
            result_->states().push_back(std::move(state));
        }
        for (const Output& output : graph_.outputs()) result_->add_output(output.name, in_public_dtype(output.node));
        return result_;
    }

private:
    /// A value in the new graph: in its own dtype, or in the stored dtype.
    struct RewrittenValue {
        NodeId node = 0;
        bool is_stored = false;
    };

    NodeId cast(NodeId node, DType to, const Node& like) {
        return result_->make(Op::cast, {node}, {{"dtype", std::vector<Dim>{static_cast<int>(to)}}}, like.where);
    }
    NodeId in_public_dtype(NodeId id) {
        const RewrittenValue made = values_[id];
        return made.is_stored ? cast(made.node, graph_.node(id).dtype, graph_.node(id)) : made.node;
    }
    NodeId in_stored_dtype(NodeId id) {
        const RewrittenValue made = values_[id];
        return made.is_stored ? made.node : cast(made.node, dtype_, graph_.node(id));
    }

    RewrittenValue copy(NodeId id) {
        Node node = graph_.node(id);
        const bool has_stored = !node.operands.empty() && values_[node.operands[0]].is_stored;
        const bool is_stored = storable_[id] || (node.op == Op::state_append && has_stored);
        for (NodeId& operand : node.operands) operand = is_stored ? in_stored_dtype(operand) : in_public_dtype(operand);
        if (is_stored) node.dtype = dtype_;
        return {result_->intern(std::move(node)), is_stored};
    }

    const GraphData& graph_;
    DType dtype_;
    std::vector<bool> storable_;
    std::shared_ptr<GraphData> result_;
    std::vector<RewrittenValue> values_;  // by node
};

}  // namespace

std::shared_ptr<GraphData> cast_stored_states(const GraphData& graph, DType dtype) {
    return StateDTypeRewriter(graph, dtype).run();
}

}  // namespace cairn::ir
