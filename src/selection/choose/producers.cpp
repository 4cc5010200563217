#include "selection/choose/producers.hpp"

#include "graph/ir/op_table.hpp"
#include "graph/types/dense_strides.hpp"

#include <algorithm>
#include <utility>

namespace cairn::selection {

using ir::NodeId;
using ir::Op;

Producers::Producers(const Bucket& bucket, Breadth breadth, std::stop_token stop)
    : bucket_(bucket),
      influence_(bucket.graph, bucket.candidates.classes(), bucket.bounds),
      breadth_(breadth),
      stop_(std::move(stop)),
      first_(bucket.graph.nodes().size(), -1) {
    if (breadth != Breadth::first) bucket.candidates.find_layouts(bucket.matches);
    for (std::size_t t = 0; t < bucket.matches.size(); ++t) {
        check_stop();
        add_match(static_cast<int>(t));
    }
    for (const ir::Output& output : bucket.graph.outputs()) demand_output(output);
    for (const ir::StateInfo& state : bucket.graph.states())
        if (state.latest != state.read) roots_.insert(storage_goal(state.latest));
    add_conversions();
    order_goals();
}

void Producers::order_goals() {
    order_.clear();
    for_each_goal([&](int number) {
        if (!is_bound(at(number).goal.value)) visit(number);
    });
    for (const Goal& root : roots_) visit(goal_number(root));
}

void Producers::filter(const std::function<bool(int number, Producer& producer)>& stays) {
    for (std::size_t number = 0; number < entries_.size(); ++number) {
        check_stop();
        GoalEntry& entry = entries_[number];
        types::SmallVector<Producer*, 6> left;
        for (Producer* producer : entry.producers)
            if (stays(static_cast<int>(number), *producer)) left.push_back(producer);
        entry.producers = std::move(left);
        entry.exists = entry.visited = false;
    }
    for (std::size_t number = 0; number < entries_.size(); ++number)
        for (const Producer* producer : entries_[number].producers) {
            entries_[number].exists = true;
            for (const int provided : provided_by(static_cast<int>(number), *producer)) at(provided).exists = true;
        }
    order_goals();
}

void Producers::check_stop() const {
    if (stop_.stop_requested()) throw Cancelled("select");
}

int Producers::goal_number(const Goal& goal) {
    int* link = &first_[goal.value];
    while (*link >= 0 && at(*link).goal < goal) link = &at(*link).next;
    if (*link >= 0 && at(*link).goal == goal) return *link;
    const auto produced = static_cast<int>(entries_.size());
    const int after = std::exchange(*link, produced);
    entries_.push_back({goal, after, false, false, {}});
    return produced;
}

std::optional<int> Producers::find(const Goal& goal) const {
    for (int number = first_[goal.value]; number >= 0; number = at(number).next)
        if (at(number).goal == goal) return number;
    return std::nullopt;
}

/// A goal that no kernel produces alone still exists if a producer of another goal provides it.
void Producers::add_producer(const Goal& goal, Candidate candidate) {
    const int number = goal_number(goal);
    at(number).exists = true;
    Producer& producer = producers_.emplace_back(std::move(candidate), List());
    at(number).producers.push_back(&producer);
    for (const int provided : provided_by(number, producer)) at(provided).exists = true;
}

/// Visits all goals that exist, by goal. `visit` may add goals.
template <typename Visit>
void Producers::for_each_goal(const Visit& visit) {
    for (const int first : first_) {
        check_stop();
        for (int number = first; number >= 0; number = at(number).next)
            if (at(number).exists) visit(number);
    }
}

/// Without a search no combined error is checked, so inexact candidates are excluded.
bool Producers::is_within_error_budget(const Candidate& candidate, std::span<const NodeId> values) const {
    const double error = candidate.error();
    return error == 0 || (breadth_ != Breadth::first && std::all_of(values.begin(), values.end(), [&](NodeId value) {
                              return error <= influence_.limit(value);
                          }));
}

void Producers::add_match(int t) {
    const fusion::Match& match = bucket_.matches[static_cast<std::size_t>(t)];
    const bool is_single = is_single_node(match, bucket_.graph);
    const bool first_only = breadth_ == Breadth::first;
    if (first_only && !is_single) return;
    // A view needs no kernel; if it must be copied, of_copy() finds one.
    if (is_single && views()[match.outputs[0]].base != match.outputs[0]) return;
    for (Candidate& candidate : bucket_.candidates.of_match(match, t, breadth_ == Breadth::cheapest)) {
        const bool has_layouts =
            !candidate.output_layouts.empty() ||
            std::any_of(candidate.operands.begin(), candidate.operands.end(),
                        [](const KernelOperand& operand) { return operand.form == OperandForm::packed; });
        if (first_only && has_layouts) continue;
        if (!is_within_error_budget(candidate, candidate.outputs)) continue;
        // The outputs of a match are all computed at bind or all in a run: bound values are not recomputed in every
        // run.
        const bool once = is_bound(candidate.outputs[0]);
        if (std::any_of(candidate.outputs.begin(), candidate.outputs.end(),
                        [&](NodeId o) { return is_bound(o) != once; }))
            continue;
        const auto top = std::max_element(candidate.outputs.begin(), candidate.outputs.end());
        const Goal goal =
            bucket_.candidates.output_goal(candidate, static_cast<std::size_t>(top - candidate.outputs.begin()));
        add_producer(goal, std::move(candidate));
        if (first_only) break;
    }
}

void Producers::demand_output(const ir::Output& output) {
    const KernelOperand operand = operand_of_output(output, bucket_.graph, bucket_.candidates);
    if (const auto goal = goal_of(operand, bucket_.candidates)) roots_.insert(*goal);
}

/// Adds the copies and packings that candidates need, copies of values from computed layouts, copies of values that are
/// a view in one expression and have memory in another, and what those depend on in turn; and the goals of keeping
/// bound values.
void Producers::add_conversions() {
    std::set<Goal> seen, wanted, kept;
    const auto want = [&](const Goal& goal) {
        for (const Goal& each : {goal, produced(goal)})
            if (seen.insert(each).second) wanted.insert(each);
    };
    const auto want_operands = [&](const GoalEntry& entry) {
        for (const Producer* producer : entry.producers)
            for (const KernelOperand& operand : producer->candidate.operands)
                if (const auto goal = goal_of(operand, bucket_.candidates);
                    goal && (operand.form != OperandForm::strided || goal->transferred || is_transfer_source(*goal)))
                    want(*goal);
    };
    for (const Goal& root : roots_) want(root);
    std::vector<Goal> in_layouts;
    for_each_goal([&](int number) {
        const Goal& goal = at(number).goal;
        if (!goal.place.layout.empty() && !is_bound(goal.value)) in_layouts.push_back(goal);
    });
    for (const Goal& goal : in_layouts)
        add_all(bucket_.candidates.storage_goal(goal.value, goal.place.device),
                bucket_.candidates.of_layout_copy(goal.value, goal.place.layout, goal.place.device));
    for_each_goal([&](int number) {
        const GoalEntry& entry = at(number);
        if (bucket_.candidates.classes().expressions(entry.goal.value).size() > 1) want(entry.goal);
        want_operands(entry);
    });
    while (!wanted.empty())
        for (const Goal& goal : std::exchange(wanted, {})) {
            check_stop();
            if (!goal.place.layout.empty() && !is_bound(goal.value)) continue;  // only kernels of matches write it
            if (!goal.place.layout.empty())
                add_all(goal, bucket_.candidates.of_packing(goal.value, goal.place.layout, goal.place.device));
            else if (!goal.place.in_state)
                add_copies(goal);
            if (const auto number = find(goal)) want_operands(at(*number));
        }
    for_each_goal([&](int number) {
        for (const Producer* producer : at(number).producers)
            for (const KernelOperand& operand : producer->candidate.operands)
                if (const auto goal = kept_for(operand, at(number).goal.value)) kept.insert(*goal);
    });
    for (const Goal& goal : kept) add_producer(goal, {});
}

/// Copies views from where they are seen, available values to other devices, and transferable ones from where they are
/// computed.
void Producers::add_copies(const Goal& goal) {
    Candidates& candidates = bucket_.candidates;
    const Device goal_device = goal.place.device;
    if (goal.transferred)
        add_producer(
            goal,
            {-1, nullptr, {}, {{goal.value, OperandForm::dense, {}, goal_device}}, {goal.value}, {}, goal_device});
    for (const NodeId expression : candidates.classes().expressions(goal.value)) {
        for (const Device from : candidates.devices().all)
            if (from == goal_device ? candidates.is_view(expression) && !goal.transferred
                                    : goal.transferred || candidates.is_transfer_source(expression, from))
                add_all(goal, candidates.of_copy(expression, from, goal_device));
    }
}

/// True if the value is available on another device in any case.
bool Producers::is_transfer_source(const Goal& goal) const {
    const Device goal_device = goal.place.device;
    const std::vector<Device>& all = bucket_.candidates.devices().all;
    return std::any_of(all.begin(), all.end(), [&](Device from) {
        return from != goal_device && bucket_.candidates.is_transfer_source(goal.value, from);
    });
}

void Producers::add_all(const Goal& goal, std::vector<Candidate> candidates) {
    for (Candidate& produced : candidates)
        if (is_within_error_budget(produced, {&goal.value, 1})) add_producer(goal, std::move(produced));
}

/// The goal of keeping in memory what a run reads of a weight, in addition to the goal of computing it. Values read
/// only at bind need not be kept.
std::optional<Goal> Producers::kept_for(const KernelOperand& operand, NodeId top) const {
    const NodeId base = views()[operand.node].base;
    if (is_bound(top) || !is_bound(base)) return std::nullopt;
    Goal goal = goal_of(operand, bucket_.candidates).value_or(storage_goal(base));
    goal.kept = true;
    const bool is_heavy = is_bound(goal.value) && bucket_.graph.node(goal.value).op != Op::constant;
    return is_heavy ? std::optional(goal) : std::nullopt;
}

Producers::List Producers::needs_of(const Candidate& candidate, NodeId top) {
    List needs;
    for (const KernelOperand& operand : candidate.operands) {
        if (const auto kept = kept_for(operand, top)) needs.push_back(goal_number(*kept));
        if (const auto need = goal_of(operand, bucket_.candidates)) needs.push_back(goal_number(*need));
    }
    const ir::Node& node = bucket_.graph.node(top);
    if (ir::is(node, ir::OpClass::effect))
        if (const NodeId previous = node.operands[0]; !ir::is_given(bucket_.graph.node(previous)))
            needs.push_back(goal_number(storage_goal(previous)));
    std::sort(needs.begin(), needs.end(), [&](int a, int b) { return at(a).goal < at(b).goal; });
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    return needs;
}

Producers::List Producers::provided_by(int number, const Producer& producer) {
    List provided;
    const Candidate& candidate = producer.candidate;
    for (std::size_t i = 0; i < candidate.outputs.size(); ++i)
        if (candidate.outputs[i] != at(number).goal.value)
            provided.push_back(goal_number(bucket_.candidates.output_goal(candidate, i)));
    return provided;
}

/// The goals that a goal's producers depend on or provide, in the order of the producers.
std::vector<int> Producers::dependencies(int number) {
    std::vector<int> result;
    for (Producer* producer : at(number).producers) {
        producer->needs = needs_of(producer->candidate, at(number).goal.value);
        result.insert(result.end(), producer->needs.begin(), producer->needs.end());
        for (const int provided : provided_by(number, *producer)) result.push_back(provided);
    }
    return result;
}

/// Depth-first with an explicit stack: a chain of goals is as long as the graph is deep.
void Producers::visit(int root) {
    struct Visit {
        int number;
        std::vector<int> dependencies;
        std::size_t next = 0;
    };
    std::vector<Visit> open;
    const auto enter = [&](int number) {
        if (!at(number).exists || std::exchange(at(number).visited, true)) return;
        open.push_back({number, dependencies(number)});
    };
    enter(root);
    while (!open.empty()) {
        check_stop();
        if (Visit& visit = open.back(); visit.next < visit.dependencies.size()) {
            enter(visit.dependencies[visit.next++]);
            continue;
        }
        order_.push_back(open.back().number);
        open.pop_back();
    }
}

bool is_single_node(const fusion::Match& match, const ir::GraphData& graph) {
    return match.outputs.size() == 1 && match.interior.empty() && match.body.empty() &&
           match.definition == ir::info(graph.node(match.outputs[0]).op).name;
}

std::optional<Goal> goal_of(const KernelOperand& operand, const Candidates& candidates) {
    const NodeId base = candidates.views()[operand.node].base;
    Goal goal;
    switch (operand.form) {
        case OperandForm::packed: return candidates.packed(operand.node, operand.layout, operand.device);
        case OperandForm::dense:
            goal = {candidates.classes().value_of(operand.node), {false, {}, operand.device}};
            break;
        case OperandForm::strided:
            if (candidates.is_available(operand.node, operand.device)) return std::nullopt;
            goal = candidates.storage_goal(base, operand.device);
    }
    goal.transferred = operand.transferred;
    return goal;
}

Goal produced(Goal goal) {
    goal.transferred = false;
    return goal;
}

KernelOperand operand_of_output(const ir::Output& output, const ir::GraphData& graph, const Candidates& candidates) {
    const ValueView& view = candidates.views()[output.node];
    const bool is_readable = types::are_dense_strides(graph.node(output.node).shape, view.strides) &&
                             !is_state_version(graph.node(view.base));
    return candidates.operand_of(output.node, is_readable ? OperandForm::strided : OperandForm::dense,
                                 candidates.device_of_output(output));
}

bool influences(const Goal& goal, const Candidate& candidate, const accuracy::ErrorInfluence& influence,
                std::size_t bound) {
    const auto is_shown = [&](NodeId value) { return influence.influences(value, bound); };
    return is_shown(goal.value) || std::any_of(candidate.outputs.begin(), candidate.outputs.end(), is_shown);
}

}  // namespace cairn::selection
