#include "select/goals.hpp"

#include "ir/op_table.hpp"
#include "search/reduce.hpp"
#include "types/short_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory_resource>
#include <set>
#include <utility>

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
using Goals = types::ShortList<int, 4>;  // mostly few

constexpr std::string_view resident_mark = "!";

class MemoBuilder {
public:
    MemoBuilder(const ir::GraphData& graph, const std::vector<fuse::Tile>& tiles, Candidates& candidates,
                bool first_only, std::stop_token stop)
        : graph_(graph),
          tiles_(tiles),
          candidates_(candidates),
          first_only_(first_only),
          stop_(std::move(stop)),
          first_(graph.nodes().size(), -1) {}

    Memo build() {
        for (std::size_t t = 0; t < tiles_.size(); ++t) {
            go_on();
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
    /// A candidate and the goals it rests on, by key.
    struct Held {
        Candidate candidate;
        Goals needs;
    };
    /// A goal by the order in which goals were first spoken of; it has a number once it is visited.
    struct Goal {
        Key key;
        int next;             ///< of the goals of its node, the one with the next layout
        bool exists = false;  ///< there is a way to it: a candidate, or another goal's that brings it along
        bool visited = false;
        int number = -1;
        std::pmr::vector<Held> ways;
    };

    void go_on() const {
        if (stop_.stop_requested()) throw Cancelled("select");
    }

    const std::vector<ValueView>& views() const { return candidates_.views(); }

    Goal& at(int goal) { return goals_[static_cast<std::size_t>(goal)]; }

    /// The goal of that key, made if there is none.
    int goal_at(const Key& key) {
        int* link = &first_[key.first];
        while (*link >= 0 && at(*link).key.second < key.second) link = &at(*link).next;
        if (*link >= 0 && at(*link).key.second == key.second) return *link;
        const auto made = static_cast<int>(goals_.size());
        const int after = std::exchange(*link, made);
        goals_.push_back({key, after, false, false, -1, std::pmr::vector<Held>(&pool_)});
        return made;
    }
    void add_way(const Key& key, Candidate candidate) {
        Goal& goal = at(goal_at(key));
        goal.exists = true;
        goal.ways.push_back({std::move(candidate), {}});
    }
    /// All goals there are, by key. More may be made meanwhile.
    template <typename Visit>
    void for_each_goal(const Visit& visit) {
        for (const int first : first_) {
            go_on();
            for (int goal = first; goal >= 0; goal = at(goal).next)
                if (at(goal).exists) visit(goal);
        }
    }

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
        for (Candidate& candidate : candidates_.of_tile(tile, t, !first_only_)) {
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
            add_way({top, ""}, std::move(candidate));
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
        std::set<Key> wanted = roots_, residences;
        for_each_goal([&](int goal) {
            for (const Held& way : at(goal).ways)
                for (const Source& source : way.candidate.sources)
                    if (source.form != Form::seen) wanted.insert(*goal_of(source, graph_, candidates_));
        });
        for (const Key& key : wanted) {
            const auto& [node, layout] = key;
            const bool copied = layout == "dense" || (layout.empty() && views()[node].base != node);
            if (!copied && layout.empty()) continue;
            go_on();
            for (Candidate& made : copied ? candidates_.of_copy(node) : candidates_.of_packing(node, layout))
                add_way(key, std::move(made));
        }
        for_each_goal([&](int goal) {
            for (const Held& way : at(goal).ways)
                for (const Source& source : way.candidate.sources)
                    if (auto kept = residence_of(source, at(goal).key.first)) residences.insert(std::move(*kept));
        });
        for (const Key& key : residences) add_way(key, {});
    }

    /// The goal of keeping in memory what a run reads of a weight: for the bytes, beside the one for the value. What
    /// only the bind section reads need not stay.
    std::optional<Key> residence_of(const Source& source, NodeId top) const {
        if (candidates_.bound()[top] || !candidates_.bound()[views()[source.node].base]) return std::nullopt;
        const auto value = goal_of(source, graph_, candidates_);
        const Key form = value ? *value : Key{views()[source.node].base, ""};
        const bool heavy = candidates_.bound()[form.first] && graph_.node(form.first).op != Op::constant;
        return heavy ? std::optional(Key{form.first, form.second + std::string(resident_mark)}) : std::nullopt;
    }

    Goals needs_of(const Candidate& candidate, NodeId top) {
        Goals needs;
        for (const Source& source : candidate.sources) {
            if (const auto kept = residence_of(source, top)) needs.push_back(goal_at(*kept));
            if (const auto need = goal_of(source, graph_, candidates_)) needs.push_back(goal_at(*need));
        }
        const ir::Node& node = graph_.node(top);
        if (ir::is(node, ir::OpClass::effect))
            if (const NodeId previous = node.operands[0]; !ir::is_given(graph_.node(previous)))
                needs.push_back(goal_at({previous, ""}));
        std::sort(needs.begin(), needs.end(), [&](int a, int b) { return at(a).key < at(b).key; });
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
        for_each_goal([&](int goal) {
            if (!candidates_.bound()[at(goal).key.first]) visit(goal);
        });
        for (const Key& root : roots_) visit(goal_at(root));
        for (const int numbered : numbered_) {
            go_on();
            Goal& goal = at(numbered);
            memo_.keys.push_back(goal.key);
            memo_.problem.add_goal();
            for (Held& way : goal.ways) add_alternative(goal, way);
        }
        reachable_ = search::reachable_goals(memo_.problem);
        for (const Key& root : roots_) {
            if (!is_reachable(root)) refuse(root.first);
            memo_.problem.add_root(at(goal_at(root)).number);
        }
    }

    bool is_reachable(const Key& key) {
        const int number = at(goal_at(key)).number;
        return number >= 0 && reachable_[static_cast<std::size_t>(number)];
    }

    /// What a goal rests on or brings along, in the order of its candidates. What no kernel makes alone still has a
    /// number: it can come along.
    std::vector<int> below(int goal) {
        std::vector<int> result;
        const NodeId node = at(goal).key.first;
        for (std::size_t w = 0; w < at(goal).ways.size(); ++w) {
            Goals needs = needs_of(at(goal).ways[w].candidate, node);
            result.insert(result.end(), needs.begin(), needs.end());
            Held& way = at(goal).ways[w];
            way.needs = std::move(needs);
            for (const NodeId output : way.candidate.outputs) {
                if (output == node) continue;
                result.push_back(goal_at({output, ""}));
                at(result.back()).exists = true;
            }
        }
        return result;
    }

    /// Depth first, with a stack of its own: a chain of goals is as long as the graph is deep.
    void visit(int root) {
        struct Visit {
            int goal;
            std::vector<int> below;
            std::size_t next = 0;
        };
        std::vector<Visit> open;
        const auto enter = [&](int goal) {
            if (!at(goal).exists || std::exchange(at(goal).visited, true)) return;
            open.push_back({goal, below(goal)});
        };
        enter(root);
        while (!open.empty()) {
            go_on();
            if (Visit& visit = open.back(); visit.next < visit.below.size()) {
                enter(visit.below[visit.next++]);
                continue;
            }
            at(open.back().goal).number = static_cast<int>(numbered_.size());
            numbered_.push_back(open.back().goal);
            open.pop_back();
        }
    }

    void add_alternative(const Goal& goal, Held& way) {
        Goals needs, provides;
        for (const int need : way.needs) {
            if (at(need).number < 0 || at(need).number >= goal.number) return;
            needs.push_back(at(need).number);
        }
        for (const NodeId output : way.candidate.outputs)
            if (output != goal.key.first) provides.push_back(at(goal_at({output, ""})).number);
        memo_.problem.add_alternative(cost_of(way.candidate, goal.key), std::span(needs.data(), needs.size()),
                                      std::span(provides.data(), provides.size()));
        memo_.candidates.push_back(std::move(way.candidate));
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
    std::pmr::monotonic_buffer_resource pool_;
    std::pmr::deque<Goal> goals_{&pool_};
    std::vector<int> first_;  // goal of each node, by layout
    std::vector<int> numbered_;
    std::vector<bool> reachable_;  // of each number
    std::set<Key> roots_;
    Memo memo_;
};

}  // namespace

bool is_residence(const GoalKey& key) noexcept { return key.second.ends_with(resident_mark); }

std::optional<GoalKey> goal_of(const Source& source, const ir::GraphData& graph, const Candidates& candidates) {
    switch (source.form) {
        case Form::packed: return candidates.packed_key(source.node, std::string(source.layout));
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
