#include "select/schedule.hpp"

#include "ir/op_table.hpp"

#include <functional>
#include <map>
#include <queue>
#include <set>

namespace cairn::inline v0::select {
namespace {

using ir::NodeId;
using ir::Op;

void go_on(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled("emit");
}

/// Of each choice those that have to come after it.
std::vector<std::vector<int>> followers_of(const std::vector<std::vector<int>>& after) {
    std::vector<std::vector<int>> followers(after.size());
    for (std::size_t i = 0; i < after.size(); ++i)
        for (const int before : after[i]) followers[static_cast<std::size_t>(before)].push_back(static_cast<int>(i));
    return followers;
}

/// What has to come after `first`, in however many steps, and `first` itself.
std::set<int> all_after(int first, const std::vector<std::vector<int>>& followers) {
    std::set<int> found{first};
    for (std::vector<int> pending{first}; !pending.empty();) {
        const int at = pending.back();
        pending.pop_back();
        for (const int follower : followers[static_cast<std::size_t>(at)])
            if (found.insert(follower).second) pending.push_back(follower);
    }
    return found;
}

/// The choice that makes the first write over each version of a state. An append leaves the rows of older versions
/// alone; later writes find them replaced already.
std::map<NodeId, int> first_overwrites(const ir::GraphData& graph, const Candidates& candidates,
                                       const std::map<Goal, int>& maker) {
    std::map<NodeId, int> result;
    for (const ir::StateInfo& state : graph.states()) {
        int writer = -1;
        for (NodeId version = state.latest; version != state.read;) {
            const ir::Node& node = graph.node(version);
            if (node.op == Op::state_write) writer = maker.at(candidates.home(version));
            version = node.operands[0];
            if (writer >= 0) result[version] = writer;
        }
    }
    return result;
}

/// Puts each choice that replaces elements of a state after those that read them. A reader that rests on it already
/// reads late.
void order_overwrites(const std::vector<Choice>& chosen, const Candidates& candidates,
                      const std::map<NodeId, int>& overwrites, const std::stop_token& stop, Dependences& result) {
    if (overwrites.empty()) return;
    std::map<int, std::vector<LateRead>> reads;  // of what each writer replaces
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const Sources& sources = chosen[i].candidate.sources;
        for (std::size_t s = 0; s < sources.size(); ++s) {
            if (sources[s].form != Form::seen) continue;
            const auto it = overwrites.find(candidates.views()[sources[s].node].base);
            if (it != overwrites.end())
                reads[it->second].push_back({static_cast<int>(i), static_cast<int>(s), it->second});
        }
    }
    std::vector<std::vector<int>> followers = followers_of(result.after);
    for (const auto& [writer, before] : reads) {
        go_on(stop);
        // What comes after the writer stays the same while readers that do not are put before it.
        const std::set<int> late = all_after(writer, followers);
        for (const LateRead& read : before) {
            if (late.contains(read.reader)) {
                result.late_reads.push_back(read);
                continue;
            }
            result.after[static_cast<std::size_t>(writer)].push_back(read.reader);
            followers[static_cast<std::size_t>(read.reader)].push_back(writer);
        }
    }
}

}  // namespace

Dependences dependences_of(const ir::GraphData& graph, const std::vector<Choice>& chosen, const Candidates& candidates,
                           const std::stop_token& stop) {
    std::map<Goal, int> maker;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        maker[chosen[i].goal] = static_cast<int>(i);
        for (const NodeId output : chosen[i].candidate.outputs)
            if (chosen[i].goal == candidates.home(chosen[i].goal.value, chosen[i].goal.place.device))
                maker.try_emplace(candidates.home(output, chosen[i].goal.place.device), static_cast<int>(i));
    }
    Dependences result;
    result.after.resize(chosen.size());
    const auto needs = [&](std::size_t user, const Goal& goal) {
        auto it = maker.find(goal);
        if (it == maker.end() && goal.brought)
            it = maker.find(made(goal));  // made where it is wanted, not copied there
        if (it != maker.end() && it->second != static_cast<int>(user)) result.after[user].push_back(it->second);
    };
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        go_on(stop);
        for (const Source& source : chosen[i].candidate.sources)
            if (const auto goal = goal_of(source, candidates)) needs(i, *goal);
        const Goal& goal = chosen[i].goal;
        if (const ir::Node& node = graph.node(goal.value); goal.place.in_state && ir::is(node, ir::OpClass::effect))
            needs(i, candidates.home(node.operands[0]));
    }
    order_overwrites(chosen, candidates, first_overwrites(graph, candidates, maker), stop, result);
    return result;
}

std::vector<int> schedule(const Dependences& dependences) {
    const std::size_t count = dependences.after.size();
    const std::vector<std::vector<int>> followers = followers_of(dependences.after);
    std::vector<std::size_t> missing(count);
    for (std::size_t i = 0; i < count; ++i) missing[i] = dependences.after[i].size();
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
