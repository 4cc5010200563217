#include "select/goals.hpp"

#include "ir/op_table.hpp"
#include "select/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace cairn::inline v0::select {
namespace {

using ir::NodeId;
using ir::Op;

// Work done once when weights are bound counts this much of its time. Each byte that a run keeps in memory for good, a
// weight as stored or in another form, counts this many seconds, unless an earlier bucket keeps it anyway: one form of
// a weight serves all buckets unless a second one pays. The price is far above what one form can gain on another
// (reading takes 1e-10 to 1e-11 seconds a byte), so that no noise in measured times fills the memory.
constexpr double bind_weight = 1e-3, seconds_per_resident_byte = 1e-9;

using Key = GoalKey;

constexpr std::string_view resident_mark = "!";

class MemoBuilder {
public:
    MemoBuilder(const ir::GraphData& graph, const std::vector<fuse::Tile>& tiles, Candidates& candidates,
                bool first_only, std::stop_token stop)
        : graph_(graph), tiles_(tiles), candidates_(candidates), first_only_(first_only), stop_(std::move(stop)) {}

    Memo build() {
        for (std::size_t t = 0; t < tiles_.size(); ++t) {
            if (stop_.stop_requested()) throw Cancelled("select");
            add_tile(static_cast<int>(t));
        }
        for (const ir::Output& output : graph_.outputs()) demand_output(output.node);
        for (const ir::StateInfo& state : graph_.states())
            if (state.latest != state.read) roots_.insert({state.latest, ""});
        add_conversions();
        number();
        return std::move(memo_);
    }

private:
    const std::vector<ValueView>& views() const { return candidates_.views(); }

    /// The value whose memory a tile output is written to: a reshape of all of a value is that value's memory.
    NodeId memory_of(NodeId output) const {
        const ValueView& view = views()[output];
        const bool same = view.offset == Dim(0) && view.strides == dense_strides(graph_.node(output).shape) &&
                          element_count(graph_.node(output).shape) == element_count(graph_.node(view.base).shape);
        return same ? view.base : output;
    }

    void add_tile(int t) {
        const fuse::Tile& tile = tiles_[static_cast<std::size_t>(t)];
        if (first_only_ && !is_single_node(tile)) return;
        // A view needs no kernel; where it must be copied, of_copy() finds one.
        if (is_single_node(tile) && views()[tile.outputs[0]].base != tile.outputs[0]) return;
        for (Candidate& candidate : candidates_.of_tile(tile, t)) {
            for (NodeId& output : candidate.outputs) output = memory_of(output);
            const bool packed = std::any_of(candidate.sources.begin(), candidate.sources.end(),
                                            [](const Source& source) { return source.form == Form::packed; });
            if (first_only_ && packed) continue;
            // A tile belongs to one section: what is made once when weights are bound is not made again in every run.
            const bool once = candidates_.bound()[candidate.outputs[0]];
            if (std::any_of(candidate.outputs.begin(), candidate.outputs.end(),
                            [&](NodeId o) { return candidates_.bound()[o] != once; }))
                continue;
            const NodeId top = *std::max_element(candidate.outputs.begin(), candidate.outputs.end());
            found_[{top, ""}].push_back(std::move(candidate));
            if (first_only_) break;
        }
    }

    bool is_single_node(const fuse::Tile& tile) const {
        return tile.outputs.size() == 1 && tile.interior.empty() && tile.body.empty() &&
               tile.definition == ir::info(graph_.node(tile.outputs[0]).op).name;
    }

    void demand_output(NodeId node) {
        const ValueView& view = views()[node];
        const ir::Node& base = graph_.node(view.base);
        const bool readable =
            view.strides == dense_strides(graph_.node(node).shape) && !is_state_version(graph_.node(view.base));
        if (!readable)
            roots_.insert(*goal_of({node, Form::dense, {}}, graph_, candidates_));
        else if (!ir::is_given(base))
            roots_.insert({view.base, ""});
    }

    /// Copies and packings that candidates ask for, and what those rest on in turn.
    void add_conversions() {
        std::set<Key> wanted;
        for (const auto& [key, list] : found_)
            for (const Candidate& candidate : list)
                for (const Source& source : candidate.sources)
                    if (source.form != Form::seen) wanted.insert(*goal_of(source, graph_, candidates_));
        for (const Key& root : roots_) wanted.insert(root);
        for (const Key& key : wanted) {
            const auto& [node, layout] = key;
            const bool copied = layout == "dense" || (layout.empty() && views()[node].base != node);
            if (!copied && layout.empty()) continue;
            for (Candidate& made : copied ? candidates_.of_copy(node) : candidates_.of_packing(node, layout))
                found_[key].push_back(std::move(made));
        }
        std::set<Key> residences;
        for (const auto& [key, list] : found_)
            for (const Candidate& candidate : list)
                for (const Source& source : candidate.sources)
                    if (auto kept = residence_of(source, key.first)) residences.insert(std::move(*kept));
        for (const Key& key : residences) found_[key].emplace_back();
    }

    /// The goal of keeping in memory what a run reads of a weight: for the bytes, beside the one for the value. What
    /// only the bind section reads need not stay.
    std::optional<Key> residence_of(const Source& source, NodeId top) const {
        if (candidates_.bound()[top]) return std::nullopt;
        const auto value = goal_of(source, graph_, candidates_);
        const Key form = value ? *value : Key{views()[source.node].base, ""};
        const bool heavy = candidates_.bound()[form.first] && graph_.node(form.first).op != Op::constant;
        return heavy ? std::optional(Key{form.first, form.second + std::string(resident_mark)}) : std::nullopt;
    }

    std::vector<Key> needs_of(const Candidate& candidate, NodeId top) const {
        std::vector<Key> needs;
        for (const Source& source : candidate.sources) {
            if (auto kept = residence_of(source, top)) needs.push_back(std::move(*kept));
            if (auto need = goal_of(source, graph_, candidates_)) needs.push_back(std::move(*need));
        }
        const ir::Node& node = graph_.node(top);
        if (ir::is(node, ir::OpClass::effect))
            if (const NodeId previous = node.operands[0]; !ir::is_given(graph_.node(previous)))
                needs.push_back({previous, ""});
        std::sort(needs.begin(), needs.end());
        needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
        return needs;
    }

    double cost_of(const Candidate& candidate, const Key& key) const {
        const double seconds = candidate.estimate.seconds;
        if (!candidates_.bound()[key.first]) return seconds;
        if (!is_residence(key)) return seconds * bind_weight;
        if (candidates_.is_resident(key)) return 0;
        double bytes = static_cast<double>(size_of(graph_.node(key.first).dtype));
        for (const Dim& size : graph_.node(key.first).shape) bytes *= static_cast<double>(size.constant());
        return bytes * seconds_per_resident_byte;
    }

    /// Numbers goals so that needs come first and everything about weights comes right before its first user: few goals
    /// then cross any place between two layers.
    void number() {
        for (const auto& [key, list] : found_)
            if (!candidates_.bound()[key.first]) visit(key);
        for (const Key& root : roots_) visit(root);
        memo_.problem.goals.resize(memo_.keys.size());
        memo_.candidates.resize(memo_.keys.size());
        for (std::size_t goal = 0; goal < memo_.keys.size(); ++goal) {
            std::map<std::pair<std::vector<int>, std::vector<int>>, std::size_t> seen;
            const Key key = memo_.keys[goal];
            if (stop_.stop_requested()) throw Cancelled("select");
            for (Candidate& candidate : found_[key]) add_alternative(goal, key, std::move(candidate), number_, seen);
        }
        reachable_ = reachable_goals(memo_.problem);
        for (const Key& root : roots_) {
            if (!is_reachable(root)) refuse(root.first);
            memo_.problem.roots.push_back(number_.at(root));
        }
    }

    bool is_reachable(const Key& key) const {
        const auto goal = number_.find(key);
        return goal != number_.end() && reachable_[static_cast<std::size_t>(goal->second)];
    }

    /// What `key` rests on or brings along, in the order of its candidates. What no kernel makes alone still has a
    /// number: it can come along.
    std::vector<Key> below(const Key& key) {
        std::vector<Key> keys;
        for (const Candidate& candidate : found_.at(key)) {
            for (Key& need : needs_of(candidate, key.first)) keys.push_back(std::move(need));
            for (const NodeId output : candidate.outputs)
                if (output != key.first) keys.push_back(found_.try_emplace({output, ""}).first->first);
        }
        return keys;
    }

    /// Depth first, with a stack of its own: a chain of goals is as long as the graph is deep.
    void visit(const Key& root) {
        struct Visit {
            Key key;
            std::vector<Key> below;
            std::size_t next = 0;
        };
        std::vector<Visit> open;
        const auto enter = [&](const Key& key) {
            if (found_.contains(key) && visited_.insert(key).second) open.push_back({key, below(key)});
        };
        enter(root);
        while (!open.empty()) {
            if (stop_.stop_requested()) throw Cancelled("select");
            if (Visit& visit = open.back(); visit.next < visit.below.size()) {
                enter(Key(visit.below[visit.next++]));
                continue;
            }
            number_[open.back().key] = static_cast<int>(memo_.keys.size());
            memo_.keys.push_back(open.back().key);
            open.pop_back();
        }
    }

    /// Among candidates that rest on the same goals and reach the same ones, only the cheapest matters to the search.
    void add_alternative(std::size_t goal, const Key& key, Candidate candidate, const std::map<Key, int>& number,
                         std::map<std::pair<std::vector<int>, std::vector<int>>, std::size_t>& seen) {
        Alternative alternative{cost_of(candidate, key), {}, {}};
        for (const Key& need : needs_of(candidate, key.first)) {
            const auto it = number.find(need);
            if (it == number.end() || it->second >= static_cast<int>(goal)) return;
            alternative.needs.push_back(it->second);
        }
        for (const NodeId output : candidate.outputs)
            if (output != key.first) {
                const auto it = number.find({output, ""});
                if (it == number.end()) return;
                alternative.provides.push_back(it->second);
            }
        auto& alternatives = memo_.problem.goals[goal];
        const auto [it, fresh] = seen.try_emplace({alternative.needs, alternative.provides}, alternatives.size());
        if (fresh) {
            alternatives.push_back(std::move(alternative));
            memo_.candidates[goal].push_back(std::move(candidate));
        } else if (alternative.cost < alternatives[it->second].cost) {
            alternatives[it->second] = std::move(alternative);
            memo_.candidates[goal][it->second] = std::move(candidate);
        }
    }

    /// Finds the lowest value out of reach that `node` rests on, and says what each kernel had against it.
    [[noreturn]] void refuse(NodeId node) {
        NodeId culprit = node;
        for (bool deeper = true; deeper;) {
            deeper = false;
            for (const NodeId operand : graph_.node(culprit).operands) {
                const NodeId base = views()[operand].base;
                if (!ir::is_given(graph_.node(base)) && !is_reachable({base, ""})) culprit = base, deeper = true;
            }
        }
        const ir::Node& bad = graph_.node(culprit);
        std::string reasons;
        for (const fuse::Tile& tile : tiles_)
            if (is_single_node(tile) && tile.outputs[0] == culprit) {
                Problem problem;
                problem.definition = tile.definition;
                problem.attributes = tile.attributes;
                for (const NodeId input : tile.inputs)
                    problem.inputs.push_back(TensorDesc::dense(graph_.node(input).dtype, graph_.node(input).shape));
                problem.outputs.push_back(TensorDesc::dense(bad.dtype, bad.shape));
                for (const Verdict& verdict : candidates_.verdicts(problem))
                    reasons += fmt::format("; {}: {}", verdict.kernel,
                                           verdict.refusal.empty() ? "refused its operands' layout" : verdict.refusal);
            }
        throw Error(ErrorKind::unsupported, ir::info(bad.op).name,
                    fmt::format("no kernel can make {}{}", cairn::to_string(bad.dtype, bad.shape), reasons), bad.where);
    }

    const ir::GraphData& graph_;
    const std::vector<fuse::Tile>& tiles_;
    Candidates& candidates_;
    bool first_only_;
    std::stop_token stop_;
    std::map<Key, std::vector<Candidate>> found_;
    std::set<Key> roots_, visited_;
    std::map<Key, int> number_;
    std::vector<bool> reachable_;  // of each goal
    Memo memo_;
};

}  // namespace

bool is_residence(const GoalKey& key) noexcept { return key.second.ends_with(resident_mark); }

std::optional<GoalKey> goal_of(const Source& source, const ir::GraphData& graph, const Candidates& candidates) {
    switch (source.form) {
        case Form::packed: return candidates.packed_key(source.node, source.layout);
        case Form::dense: return GoalKey{source.node, is_state_version(graph.node(source.node)) ? "dense" : ""};
        case Form::seen: break;
    }
    const NodeId base = candidates.views()[source.node].base;
    return ir::is_given(graph.node(base)) ? std::nullopt : std::optional(GoalKey{base, ""});
}

Memo memo_of(const ir::GraphData& graph, const std::vector<fuse::Tile>& tiles, Candidates& candidates, bool first_only,
             const std::stop_token& stop) {
    return MemoBuilder(graph, tiles, candidates, first_only, stop).build();
}

}  // namespace cairn::inline v0::select
