#include "select/schedule.hpp"

#include "ir/op_table.hpp"

#include <functional>
#include <map>
#include <queue>

namespace cairn::inline v0::select {
namespace {

using ir::NodeId;
using ir::Op;

/// True when `from` has to come after `to`, or is it.
bool rests_on(const std::vector<std::vector<int>>& after, int from, int to) {
    std::vector<int> pending{from};
    std::vector<bool> seen(after.size(), false);
    while (!pending.empty()) {
        const int at = pending.back();
        pending.pop_back();
        if (at == to) return true;
        if (seen[static_cast<std::size_t>(at)]) continue;
        seen[static_cast<std::size_t>(at)] = true;
        for (const int before : after[static_cast<std::size_t>(at)]) pending.push_back(before);
    }
    return false;
}

/// The choice that makes the first write over each version of a state. An append leaves the rows of older versions
/// alone; later writes find them replaced already.
std::map<NodeId, int> first_overwrites(const ir::GraphData& graph, const std::map<GoalKey, int>& maker) {
    std::map<NodeId, int> result;
    for (const ir::StateInfo& state : graph.states()) {
        int writer = -1;
        for (NodeId version = state.latest; version != state.read;) {
            const ir::Node& node = graph.node(version);
            if (node.op == Op::state_write) writer = maker.at({version, ""});
            version = node.operands[0];
            if (writer >= 0) result[version] = writer;
        }
    }
    return result;
}

}  // namespace

Dependences dependences_of(const ir::GraphData& graph, const std::vector<Choice>& chosen, const Candidates& candidates,
                           const std::stop_token& stop) {
    std::map<GoalKey, int> maker;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        maker[chosen[i].goal] = static_cast<int>(i);
        for (const NodeId output : chosen[i].candidate.outputs)
            if (chosen[i].goal.second.empty()) maker.try_emplace({output, ""}, static_cast<int>(i));
    }
    Dependences result;
    result.after.resize(chosen.size());
    const auto needs = [&](std::size_t user, const GoalKey& key) {
        if (const auto it = maker.find(key); it != maker.end() && it->second != static_cast<int>(user))
            result.after[user].push_back(it->second);
    };
    const auto go_on = [&] {
        if (stop.stop_requested()) throw Cancelled("emit");
    };
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        go_on();
        for (const Source& source : chosen[i].candidate.sources)
            if (const auto key = goal_of(source, graph, candidates)) needs(i, *key);
        const ir::Node& node = graph.node(chosen[i].goal.first);
        if (chosen[i].goal.second.empty() && ir::is(node, ir::OpClass::effect)) needs(i, {node.operands[0], ""});
    }
    const std::map<NodeId, int> overwrites = first_overwrites(graph, maker);
    if (overwrites.empty()) return result;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const auto reader = static_cast<int>(i);
        const Sources& sources = chosen[i].candidate.sources;
        for (std::size_t s = 0; s < sources.size(); ++s) {
            if (sources[s].form != Form::seen) continue;
            const auto it = overwrites.find(candidates.views()[sources[s].node].base);
            if (it == overwrites.end()) continue;
            go_on();
            if (rests_on(result.after, reader, it->second))
                result.late_reads.push_back({reader, static_cast<int>(s), it->second});
            else
                result.after[static_cast<std::size_t>(it->second)].push_back(reader);
        }
    }
    return result;
}

std::vector<int> schedule(const Dependences& dependences) {
    const std::size_t count = dependences.after.size();
    std::vector<std::vector<int>> followers(count);
    std::vector<int> missing(count, 0);
    for (std::size_t i = 0; i < count; ++i)
        for (const int before : dependences.after[i]) {
            followers[static_cast<std::size_t>(before)].push_back(static_cast<int>(i));
            ++missing[i];
        }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (std::size_t i = 0; i < count; ++i)
        if (missing[i] == 0) ready.push(static_cast<int>(i));
    std::vector<int> order;
    while (!ready.empty()) {
        const int next = ready.top();
        ready.pop();
        order.push_back(next);
        for (const int follower : followers[static_cast<std::size_t>(next)])
            if (--missing[static_cast<std::size_t>(follower)] == 0) ready.push(follower);
    }
    if (order.size() != count) throw InternalError("emit", "the chosen tiles depend on each other in a circle");
    return order;
}

}  // namespace cairn::inline v0::select
