#include "select/schedule.hpp"

#include "ir/op_table.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>

namespace cairn::inline v0::select {
namespace {

using ir::NodeId;
using ir::Op;

/// True when `from` has to come after `to`.
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

/// All versions of a state that are older than `version`.
std::vector<NodeId> older_versions(const ir::GraphData& graph, NodeId version) {
    std::vector<NodeId> older;
    while (graph.node(version).op != Op::state_read) older.push_back(version = graph.node(version).operands[0]);
    return older;
}

}  // namespace

Dependences dependences_of(const ir::GraphData& graph, const std::vector<Choice>& chosen,
                           const Candidates& candidates) {
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
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        for (const Source& source : chosen[i].candidate.sources)
            if (const auto key = goal_of(source, graph, candidates)) needs(i, *key);
        const ir::Node& node = graph.node(chosen[i].goal.first);
        if (chosen[i].goal.second.empty() && ir::is(node, ir::OpClass::effect)) needs(i, {node.operands[0], ""});
    }
    // An append leaves older rows alone; only a write replaces what someone may still want to read.
    for (std::size_t writer = 0; writer < chosen.size(); ++writer) {
        const NodeId version = chosen[writer].goal.first;
        if (graph.node(version).op != Op::state_write || !chosen[writer].goal.second.empty()) continue;
        const std::vector<NodeId> older = older_versions(graph, version);
        for (std::size_t reader = 0; reader < chosen.size(); ++reader) {
            if (reader == writer) continue;
            const bool reads =
                std::any_of(chosen[reader].candidate.sources.begin(), chosen[reader].candidate.sources.end(),
                            [&](const Source& source) {
                                return source.form != Form::packed &&
                                       std::count(older.begin(), older.end(), candidates.views()[source.node].base) > 0;
                            });
            if (!reads) continue;
            if (rests_on(result.after, static_cast<int>(reader), static_cast<int>(writer)))
                result.late_reads.emplace_back(static_cast<int>(reader), static_cast<int>(writer));
            else
                result.after[writer].push_back(static_cast<int>(reader));
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
