#include "select/memo.hpp"

#include "ir/op_table.hpp"
#include "search/reduce.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <string>
#include <utility>

namespace cairn::inline v0::select {
namespace {

using ir::NodeId;

// Work done once when weights are bound counts this much of its time.
constexpr double bind_weight = 1e-3;

class MemoBuilder {
public:
    MemoBuilder(std::span<const Bucket> buckets, bool first_only, const std::stop_token& stop) : stop_(stop) {
        for (const Bucket& bucket : buckets)
            parts_.emplace_back(static_cast<int>(parts_.size()), bucket, first_only, stop);
        for (Part& part : parts_) list_kept(part);
    }

    Memo build() {
        // All programs go side by side, from one kept value to the next: few goals then cross any place between layers.
        for (const Part& leading : parts_)
            for (const int kept : leading.kept) {
                if (numbers_of_kept_[static_cast<std::size_t>(kept)] >= 0) continue;
                for (Part& part : parts_) number_until(part, part.place_of(kept));
            }
        for (Part& part : parts_) number_until(part, part.ways.order().size());
        add_roots();
        return std::move(memo_);
    }

private:
    /// A bucket, and how far its goals are numbered.
    struct Part {
        Part(int index, const Bucket& bucket, bool first_only, const std::stop_token& stop)
            : index(index), bucket(bucket), ways(bucket, first_only, stop) {}
        /// Where in the order the kept value stands; 0 where it does not.
        std::size_t place_of(int value) const {
            const auto it = places.find(value);
            return it == places.end() ? 0 : it->second;
        }

        int index;
        Bucket bucket;
        Ways ways;
        std::vector<int> kept;  // kept values in the order of the goals
        std::map<int, std::size_t> places;
        std::size_t next = 0;
        std::vector<int> numbers;  // of goals, -1 for those that have none
    };

    /// Kept values are the same in all buckets where they are made alike from the same weights.
    void list_kept(Part& part) {
        const std::span<const int> order = part.ways.order();
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Goal& goal = part.ways.goal(order[i]);
            if (!goal.kept) continue;
            const auto [it, fresh] = kept_.try_emplace({part.bucket.candidates.origin(goal.value), goal.place.layout},
                                                       static_cast<int>(kept_.size()));
            part.kept.push_back(it->second);
            part.places[it->second] = i;
        }
        numbers_of_kept_.assign(kept_.size(), -1);
        part.numbers.assign(part.ways.size(), -1);
    }

    /// Numbers the goals of a bucket that stand before `end` in its order.
    void number_until(Part& part, std::size_t end) {
        for (; part.next < end; ++part.next) {
            if (stop_.stop_requested()) throw Cancelled("select");
            number(part, part.ways.order()[part.next]);
        }
    }

    void number(Part& part, int goal) {
        int& number = part.numbers[static_cast<std::size_t>(goal)];
        const Goal& asked = part.ways.goal(goal);
        if (!asked.kept) {
            number = add_goal(part, asked);
            for (Ways::Way& way : part.ways.ways(goal)) add_alternative(part, goal, way);
            return;
        }
        int& shared = numbers_of_kept_[static_cast<std::size_t>(kept_.at(
            {part.bucket.candidates.origin(asked.value), asked.place.layout}))];
        if (shared < 0) {
            shared = add_goal(part, asked);
            const double bytes = memo_.goals.back().bytes = bytes_of(part, asked);
            memo_.problem.add_alternative(bytes * seconds_per_kept_byte, {}, {});
            memo_.candidates.emplace_back();
        }
        number = shared;
    }

    int add_goal(const Part& part, const Goal& goal) {
        memo_.goals.push_back({part.index, goal, 0});
        return memo_.problem.add_goal();
    }

    void add_alternative(Part& part, int goal, Ways::Way& way) {
        Ways::List needs, provides;
        const int own = part.numbers[static_cast<std::size_t>(goal)];
        for (const int need : way.needs) {
            const int number = part.numbers[static_cast<std::size_t>(need)];
            if (number < 0 || number >= own) return;
            needs.push_back(number);
        }
        for (const int other : part.ways.provided_by(goal, way))
            provides.push_back(part.numbers[static_cast<std::size_t>(other)]);
        const double seconds = way.candidate.estimate.seconds;
        const bool once = part.bucket.candidates.bound()[part.ways.goal(goal).value];
        memo_.problem.add_alternative(seconds * (once ? bind_weight : part.bucket.weight),
                                      std::span(needs.data(), needs.size()),
                                      std::span(provides.data(), provides.size()));
        memo_.candidates.push_back(std::move(way.candidate));
    }

    static double bytes_of(const Part& part, const Goal& goal) {
        const ir::Node& node = part.bucket.graph.node(goal.value);
        double bytes = static_cast<double>(size_of(node.dtype));
        for (const Dim& size : node.shape) bytes *= static_cast<double>(size.constant());
        return bytes;
    }

    void add_roots() {
        reachable_ = search::reachable_goals(memo_.problem);
        for (Part& part : parts_)
            for (const Goal& root : part.ways.roots()) {
                if (!is_reachable(part, root)) refuse(part, root.value);
                memo_.problem.add_root(part.numbers[static_cast<std::size_t>(*part.ways.find(root))]);
            }
    }

    bool is_reachable(const Part& part, const Goal& goal) const {
        const std::optional<int> found = part.ways.find(goal);
        const int number = found ? part.numbers[static_cast<std::size_t>(*found)] : -1;
        return number >= 0 && reachable_[static_cast<std::size_t>(number)];
    }

    /// Finds the lowest value out of reach that `node` rests on, and says what each kernel had against it.
    [[noreturn]] void refuse(const Part& part, NodeId node) const {
        const ir::GraphData& graph = part.bucket.graph;
        NodeId culprit = node;
        for (bool deeper = true; deeper;) {
            deeper = false;
            for (const NodeId operand : graph.node(culprit).operands) {
                const NodeId base = part.bucket.candidates.views()[operand].base;
                if (!ir::is_given(graph.node(base)) && !is_reachable(part, home_of(graph, base)))
                    culprit = base, deeper = true;
            }
        }
        const ir::Node& bad = graph.node(culprit);
        std::string reasons;
        for (const fuse::Tile& tile : part.bucket.tiles) {
            if (!is_single_node(tile, graph) || tile.outputs[0] != culprit) continue;
            Problem problem;
            problem.definition = tile.definition;
            problem.attributes = tile.attributes;
            for (const NodeId input : tile.inputs)
                problem.inputs.push_back(TensorDesc::dense(graph.node(input).dtype, graph.node(input).shape));
            problem.outputs.push_back(TensorDesc::dense(bad.dtype, bad.shape));
            for (const Verdict& verdict : part.bucket.candidates.verdicts(problem))
                reasons += fmt::format("; {}: {}", verdict.kernel,
                                       verdict.refusal.empty() ? "refused its operands' layout" : verdict.refusal);
        }
        throw Error(ErrorKind::unsupported, ir::info(bad.op).name,
                    fmt::format("no kernel can make {}{}", cairn::to_string(bad.dtype, bad.shape), reasons), bad.where);
    }

    std::stop_token stop_;
    std::deque<Part> parts_;
    std::map<std::pair<std::string_view, std::string_view>, int> kept_;  // by origin and layout
    std::vector<int> numbers_of_kept_;
    std::vector<bool> reachable_;  // of each number
    Memo memo_;
};

}  // namespace

Memo memo_of(std::span<const Bucket> buckets, bool first_only, const std::stop_token& stop) {
    return MemoBuilder(buckets, first_only, stop).build();
}

}  // namespace cairn::inline v0::select
