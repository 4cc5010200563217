#include "select/ways.hpp"

#include "ir/op_table.hpp"
#include "types/dense.hpp"

#include <algorithm>
#include <utility>

namespace cairn::inline v0::select {

using ir::NodeId;
using ir::Op;

Ways::Ways(const Bucket& bucket, Breadth breadth, std::stop_token stop)
    : bucket_(bucket),
      influence_(bucket.graph, bucket.candidates.classes(), bucket.bounds),
      breadth_(breadth),
      stop_(std::move(stop)),
      first_(bucket.graph.nodes().size(), -1) {
    for (std::size_t t = 0; t < bucket.tiles.size(); ++t) {
        go_on();
        add_tile(static_cast<int>(t));
    }
    for (const ir::Output& output : bucket.graph.outputs()) demand_output(output.node);
    for (const ir::StateInfo& state : bucket.graph.states())
        if (state.latest != state.read) roots_.insert(home(state.latest));
    add_conversions();
    order_goals();
}

void Ways::order_goals() {
    order_.clear();
    for_each_goal([&](int number) {
        if (!is_bound(at(number).goal.value)) visit(number);
    });
    for (const Goal& root : roots_) visit(number_of(root));
}

void Ways::leave(const std::function<bool(int number, Way& way)>& stays) {
    for (std::size_t number = 0; number < entries_.size(); ++number) {
        go_on();
        Entry& entry = entries_[number];
        types::ShortList<Way*, 6> left;
        for (Way* way : entry.ways)
            if (stays(static_cast<int>(number), *way)) left.push_back(way);
        entry.ways = std::move(left);
        entry.exists = entry.visited = false;
    }
    for (std::size_t number = 0; number < entries_.size(); ++number)
        for (const Way* way : entries_[number].ways) {
            entries_[number].exists = true;
            for (const int provided : provided_by(static_cast<int>(number), *way)) at(provided).exists = true;
        }
    order_goals();
}

void Ways::go_on() const {
    if (stop_.stop_requested()) throw Cancelled("select");
}

int Ways::number_of(const Goal& goal) {
    int* link = &first_[goal.value];
    while (*link >= 0 && at(*link).goal < goal) link = &at(*link).next;
    if (*link >= 0 && at(*link).goal == goal) return *link;
    const auto made = static_cast<int>(entries_.size());
    const int after = std::exchange(*link, made);
    entries_.push_back({goal, after, false, false, {}});
    return made;
}

std::optional<int> Ways::find(const Goal& goal) const {
    for (int number = first_[goal.value]; number >= 0; number = at(number).next)
        if (at(number).goal == goal) return number;
    return std::nullopt;
}

/// What no kernel makes alone still exists: it can come along.
void Ways::add_way(const Goal& goal, Candidate candidate) {
    const int number = number_of(goal);
    at(number).exists = true;
    Way& way = ways_.emplace_back(std::move(candidate), List());
    at(number).ways.push_back(&way);
    for (const int provided : provided_by(number, way)) at(provided).exists = true;
}

/// All goals there is a way to, by goal. More may be made meanwhile.
template <typename Visit>
void Ways::for_each_goal(const Visit& visit) {
    for (const int first : first_) {
        go_on();
        for (int number = first; number >= 0; number = at(number).next)
            if (at(number).exists) visit(number);
    }
}

/// Without a search nothing tells what errors add up to.
bool Ways::is_right_enough(const Candidate& candidate, std::span<const NodeId> values) const {
    const double error = candidate.estimate.error;
    return error == 0 || (breadth_ != Breadth::first && std::all_of(values.begin(), values.end(), [&](NodeId value) {
                              return error <= influence_.limit(value);
                          }));
}

void Ways::add_tile(int t) {
    const fuse::Tile& tile = bucket_.tiles[static_cast<std::size_t>(t)];
    const bool is_single = is_single_node(tile, bucket_.graph);
    const bool first_only = breadth_ == Breadth::first;
    if (first_only && !is_single) return;
    // A view needs no kernel; where it must be copied, of_copy() finds one.
    if (is_single && views()[tile.outputs[0]].base != tile.outputs[0]) return;
    for (Candidate& candidate : bucket_.candidates.of_tile(tile, t, breadth_ == Breadth::cheapest)) {
        const bool packed = std::any_of(candidate.sources.begin(), candidate.sources.end(),
                                        [](const Source& source) { return source.form == Form::packed; });
        if (first_only && packed) continue;
        if (!is_right_enough(candidate, candidate.outputs)) continue;
        // A tile belongs to one section: what is made once when weights are bound is not made again in every run.
        const bool once = is_bound(candidate.outputs[0]);
        if (std::any_of(candidate.outputs.begin(), candidate.outputs.end(),
                        [&](NodeId o) { return is_bound(o) != once; }))
            continue;
        const NodeId top = *std::max_element(candidate.outputs.begin(), candidate.outputs.end());
        add_way(bucket_.candidates.home(top, candidate.device), std::move(candidate));
        if (first_only) break;
    }
}

void Ways::demand_output(NodeId node) {
    const Source source = source_of_output(node, bucket_.graph, bucket_.candidates);
    if (const auto goal = goal_of(source, bucket_.candidates)) roots_.insert(*goal);
}

/// Copies and packings that candidates ask for, copies of what is a view in one spelling and has memory in another, and
/// what those rest on in turn; and bound values to be kept.
void Ways::add_conversions() {
    std::set<Goal> wanted, kept;
    const auto want = [&](const Goal& goal) {
        wanted.insert(goal);
        if (goal.brought) wanted.insert(made(goal));
    };
    for (const Goal& root : roots_) want(root);
    for_each_goal([&](int number) {
        const Entry& entry = at(number);
        if (bucket_.candidates.classes().spellings(entry.goal.value).size() > 1) want(entry.goal);
        for (const Way* way : entry.ways)
            for (const Source& source : way->candidate.sources)
                if (const auto goal = goal_of(source, bucket_.candidates);
                    goal && (source.form != Form::seen || goal->brought || is_sent(*goal)))
                    want(*goal);
    });
    for (const Goal& goal : wanted) {
        go_on();
        if (!goal.place.layout.empty())
            add_all(goal, bucket_.candidates.of_packing(goal.value, goal.place.layout, goal.place.device));
        else if (!goal.place.in_state)
            add_copies(goal);
    }
    for_each_goal([&](int number) {
        for (const Way* way : at(number).ways)
            for (const Source& source : way->candidate.sources)
                if (const auto goal = kept_for(source, at(number).goal.value)) kept.insert(*goal);
    });
    for (const Goal& goal : kept) add_way(goal, {});
}

/// Views are copied where they are seen, what is given to other devices, and what may travel from where it is made.
void Ways::add_copies(const Goal& goal) {
    Candidates& candidates = bucket_.candidates;
    const Device here = goal.place.device;
    if (goal.brought) add_way(goal, {-1, nullptr, {}, {{goal.value, Form::dense, {}, here}}, {goal.value}, {}, here});
    for (const NodeId spelling : candidates.classes().spellings(goal.value)) {
        for (const Device from : candidates.devices().all)
            if (from == here ? candidates.is_view(spelling) && !goal.brought
                             : goal.brought || candidates.is_sent(spelling, from))
                add_all(goal, candidates.of_copy(spelling, from, here));
    }
}

/// Whether the value was made elsewhere in any case.
bool Ways::is_sent(const Goal& goal) const {
    const Device here = goal.place.device;
    const std::vector<Device>& all = bucket_.candidates.devices().all;
    return std::any_of(all.begin(), all.end(),
                       [&](Device from) { return from != here && bucket_.candidates.is_sent(goal.value, from); });
}

void Ways::add_all(const Goal& goal, std::vector<Candidate> candidates) {
    for (Candidate& made : candidates)
        if (is_right_enough(made, {&goal.value, 1})) add_way(goal, std::move(made));
}

/// The goal of keeping in memory what a run reads of a weight, beside the one of making it. What only the bind section
/// reads need not stay.
std::optional<Goal> Ways::kept_for(const Source& source, NodeId top) const {
    const NodeId base = views()[source.node].base;
    if (is_bound(top) || !is_bound(base)) return std::nullopt;
    Goal goal = goal_of(source, bucket_.candidates).value_or(home(base));
    goal.kept = true;
    const bool is_heavy = is_bound(goal.value) && bucket_.graph.node(goal.value).op != Op::constant;
    return is_heavy ? std::optional(goal) : std::nullopt;
}

Ways::List Ways::needs_of(const Candidate& candidate, NodeId top) {
    List needs;
    for (const Source& source : candidate.sources) {
        if (const auto kept = kept_for(source, top)) needs.push_back(number_of(*kept));
        if (const auto need = goal_of(source, bucket_.candidates)) needs.push_back(number_of(*need));
    }
    const ir::Node& node = bucket_.graph.node(top);
    if (ir::is(node, ir::OpClass::effect))
        if (const NodeId previous = node.operands[0]; !ir::is_given(bucket_.graph.node(previous)))
            needs.push_back(number_of(home(previous)));
    std::sort(needs.begin(), needs.end(), [&](int a, int b) { return at(a).goal < at(b).goal; });
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    return needs;
}

Ways::List Ways::provided_by(int number, const Way& way) {
    List provided;
    for (const NodeId output : way.candidate.outputs)
        if (output != at(number).goal.value)
            provided.push_back(number_of(bucket_.candidates.home(output, way.candidate.device)));
    return provided;
}

/// What a goal rests on or brings along, in the order of its ways.
std::vector<int> Ways::below(int number) {
    std::vector<int> result;
    for (Way* way : at(number).ways) {
        way->needs = needs_of(way->candidate, at(number).goal.value);
        result.insert(result.end(), way->needs.begin(), way->needs.end());
        for (const int provided : provided_by(number, *way)) result.push_back(provided);
    }
    return result;
}

/// Depth first, with a stack of its own: a chain of goals is as long as the graph is deep.
void Ways::visit(int root) {
    struct Visit {
        int number;
        std::vector<int> below;
        std::size_t next = 0;
    };
    std::vector<Visit> open;
    const auto enter = [&](int number) {
        if (!at(number).exists || std::exchange(at(number).visited, true)) return;
        open.push_back({number, below(number)});
    };
    enter(root);
    while (!open.empty()) {
        go_on();
        if (Visit& visit = open.back(); visit.next < visit.below.size()) {
            enter(visit.below[visit.next++]);
            continue;
        }
        order_.push_back(open.back().number);
        open.pop_back();
    }
}

bool is_single_node(const fuse::Tile& tile, const ir::GraphData& graph) {
    return tile.outputs.size() == 1 && tile.interior.empty() && tile.body.empty() &&
           tile.definition == ir::info(graph.node(tile.outputs[0]).op).name;
}

std::optional<Goal> goal_of(const Source& source, const Candidates& candidates) {
    const NodeId base = candidates.views()[source.node].base;
    Goal goal;
    switch (source.form) {
        case Form::packed: return candidates.packed(source.node, source.layout, source.device);
        case Form::dense: goal = {candidates.classes().value_of(source.node), {false, {}, source.device}}; break;
        case Form::seen:
            if (candidates.is_there(source.node, source.device)) return std::nullopt;
            goal = candidates.home(base, source.device);
    }
    goal.brought = source.brought;
    return goal;
}

Goal made(Goal goal) {
    goal.brought = false;
    return goal;
}

Source source_of_output(NodeId node, const ir::GraphData& graph, const Candidates& candidates) {
    const ValueView& view = candidates.views()[node];
    const bool is_readable =
        types::are_dense(graph.node(node).shape, view.strides) && !is_state_version(graph.node(view.base));
    return candidates.source_of(node, is_readable ? Form::seen : Form::dense, Device::cpu);
}

bool shows(const Goal& goal, const Candidate& candidate, const Influence& influence, std::size_t bound) {
    const auto is_shown = [&](NodeId value) { return influence.shows(value, bound); };
    return is_shown(goal.value) || std::any_of(candidate.outputs.begin(), candidate.outputs.end(), is_shown);
}

}  // namespace cairn::inline v0::select
