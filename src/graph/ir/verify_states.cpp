#include "graph/ir/verify_states.hpp"

#include "graph/ir/op_table.hpp"
#include "graph/ir/valid_names.hpp"

#include <fmt/format.h>

#include <map>

namespace cairn::ir {

bool is_state_version(const Node& node) noexcept { return node.op == Op::state_read || is(node, OpClass::effect); }

std::string verify_state_versions(const GraphData& graph) {
    if (graph.states().empty()) return {};
    const std::vector<bool> live = live_nodes(graph);
    std::map<NodeId, NodeId> changed;
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
        const Node& node = graph.node(id);
        if (!live[id] || !is(node, OpClass::effect)) continue;
        const NodeId version = node.operands[0];
        const auto [it, fresh] = changed.emplace(version, id);
        if (fresh) continue;
        const auto origin = state_origin(graph, version);
        return fmt::format("state {}: its version %{} is changed by %{} and by %{}; a version can be changed once",
                           quoted(origin ? graph.node(*origin).name : ""), version, it->second, id);
    }
    for (const StateInfo& state : graph.states())
        if (const auto it = changed.find(state.latest); it != changed.end())
            return fmt::format("state {}: a run would leave %{}, but %{} changes it", quoted(state.name), state.latest,
                               it->second);
    return {};
}

std::string verify_state_growth(const GraphData& graph) {
    struct Growth {
        const StateInfo* state;
        Dim after;
    };
    std::map<std::string, Growth, std::less<>> known;
    for (const StateInfo& state : graph.states()) {
        if (!state.grows()) continue;
        const std::string length = to_string(state.shape[state.growing_axis()]);
        const Dim after = graph.node(state.latest).shape[state.growing_axis()];
        const auto [it, fresh] = known.try_emplace(length, Growth{&state, after});
        if (!fresh && !(it->second.after == after))
            return fmt::format("the states {} and {} have the length {}, but grow to {} and {}",
                               quoted(it->second.state->name), quoted(state.name), length, to_string(it->second.after),
                               to_string(after));
    }
    return {};
}

}  // namespace cairn::ir
