#include "selection/emit/schedule.hpp"

#include "graph/ir/op_table.hpp"

#include <functional>
#include <map>
#include <queue>
#include <set>

namespace cairn::selection {
namespace {

using ir::NodeId;
using ir::Op;

void check_stop(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled("emit");
}

/// For each choice, the choices that have to come after it.
std::vector<std::vector<int>> successors_of(const std::vector<std::vector<int>>& after) {
    std::vector<std::vector<int>> successors(after.size());
    for (std::size_t i = 0; i < after.size(); ++i)
        for (const int before : after[i]) successors[static_cast<std::size_t>(before)].push_back(static_cast<int>(i));
    return successors;
}

/// All transitive successors of `first`, and `first` itself.
std::set<int> descendants_of(int first, const std::vector<std::vector<int>>& successors) {
    std::set<int> found{first};
    for (std::vector<int> pending{first}; !pending.empty();) {
        const int at = pending.back();
        pending.pop_back();
        for (const int successor : successors[static_cast<std::size_t>(at)])
            if (found.insert(successor).second) pending.push_back(successor);
    }
    return found;
}

/// The choice with the first write over each version of a state. An append does not change the rows of older versions;
/// later writes find them already replaced.
std::map<NodeId, int> first_overwrites(const ir::GraphData& graph, const Candidates& candidates,
                                       const std::map<Goal, int>& producer) {
    std::map<NodeId, int> result;
    for (const ir::StateInfo& state : graph.states()) {
        int writer = -1;
        for (NodeId version = state.latest; version != state.read;) {
            const ir::Node& node = graph.node(version);
            if (node.op == Op::state_write) writer = producer.at(candidates.storage_goal(version));
            version = node.operands[0];
            if (writer >= 0) result[version] = writer;
        }
    }
    return result;
}

/// Orders each choice that overwrites elements of a state after those that read them. Readers that depend on the writer
/// become late reads.
void order_overwrites(const std::vector<Choice>& chosen, const Candidates& candidates,
                      const std::map<NodeId, int>& overwrites, const std::stop_token& stop, Dependences& result) {
    if (overwrites.empty()) return;
    std::map<int, std::vector<LateRead>> reads;  // of the versions that each writer replaces
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const KernelOperands& operands = chosen[i].candidate.operands;
        for (std::size_t s = 0; s < operands.size(); ++s) {
            if (operands[s].form != OperandForm::strided) continue;
            const auto it = overwrites.find(candidates.views()[operands[s].node].base);
            if (it != overwrites.end())
                reads[it->second].push_back({static_cast<int>(i), static_cast<int>(s), it->second});
        }
    }
    std::vector<std::vector<int>> successors = successors_of(result.after);
    for (const auto& [writer, before] : reads) {
        check_stop(stop);
        // Adding readers outside this set before the writer does not change the set.
        const std::set<int> late = descendants_of(writer, successors);
        for (const LateRead& read : before) {
            if (late.contains(read.reader)) {
                result.late_reads.push_back(read);
                continue;
            }
            result.after[static_cast<std::size_t>(writer)].push_back(read.reader);
            successors[static_cast<std::size_t>(read.reader)].push_back(writer);
        }
    }
}

}  // namespace

Dependences dependences_of(const ir::GraphData& graph, const std::vector<Choice>& chosen, const Candidates& candidates,
                           const std::stop_token& stop) {
    std::map<Goal, int> producer;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        producer[chosen[i].goal] = static_cast<int>(i);
        const Candidate& candidate = chosen[i].candidate;
        if (!candidates.is_output_goal(chosen[i].goal, candidate)) continue;
        for (std::size_t output = 0; output < candidate.outputs.size(); ++output)
            producer.try_emplace(candidates.output_goal(candidate, output), static_cast<int>(i));
    }
    Dependences result;
    result.after.resize(chosen.size());
    const auto needs = [&](std::size_t user, const Goal& goal) {
        auto it = producer.find(goal);
        if (it == producer.end() && goal.transferred)
            it = producer.find(produced(goal));  // computed in its place, not transferred
        if (it != producer.end() && it->second != static_cast<int>(user)) result.after[user].push_back(it->second);
    };
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        check_stop(stop);
        for (const KernelOperand& operand : chosen[i].candidate.operands)
            if (const auto goal = goal_of(operand, candidates)) needs(i, *goal);
        const Goal& goal = chosen[i].goal;
        if (const ir::Node& node = graph.node(goal.value); goal.place.in_state && ir::is(node, ir::OpClass::effect))
            needs(i, candidates.storage_goal(node.operands[0]));
    }
    order_overwrites(chosen, candidates, first_overwrites(graph, candidates, producer), stop, result);
    return result;
}

std::vector<int> schedule(const Dependences& dependences) {
    const std::size_t count = dependences.after.size();
    const std::vector<std::vector<int>> successors = successors_of(dependences.after);
    std::vector<std::size_t> in_degree(count);
    for (std::size_t i = 0; i < count; ++i) in_degree[i] = dependences.after[i].size();
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (std::size_t i = 0; i < count; ++i)
        if (in_degree[i] == 0) ready.push(static_cast<int>(i));
    std::vector<int> order;
    while (!ready.empty()) {
        const int next = ready.top();
        ready.pop();
        order.push_back(next);
        for (const int successor : successors[static_cast<std::size_t>(next)])
            if (--in_degree[static_cast<std::size_t>(successor)] == 0) ready.push(successor);
    }
    if (order.size() != count) throw InternalError("emit", "the chosen matches depend on each other in a cycle");
    return order;
}

}  // namespace cairn::selection
