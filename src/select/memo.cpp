#include "select/memo.hpp"

#include "ir/op_table.hpp"
#include "search/reduce.hpp"
#include "search/sides.hpp"
#include "select/kept.hpp"
#include "select/narrow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace cairn::inline v0::select {
namespace {

using ir::NodeId;

// What stands in the place of a goal's number where it has none, and where it is reached in any case.
constexpr int unnumbered = -1, always = -2;

class MemoBuilder {
public:
    MemoBuilder(std::span<const Bucket> buckets, std::shared_ptr<std::deque<Ways>> ways, const std::stop_token& stop,
                double price)
        : stop_(stop), price_(price), ways_(std::move(ways)), kept_(buckets, *ways_) {
        memo_.ways = ways_;
        for (std::size_t b = 0; b < buckets.size(); ++b)
            parts_.push_back({static_cast<int>(b), buckets[b], (*ways_)[b], narrow_places(buckets[b], (*ways_)[b]),
                              std::vector<int>((*ways_)[b].size(), unnumbered)});
        for (Part& part : parts_)
            for (std::size_t i = 0; i < part.ways.order().size(); ++i)
                if (const int form = form_at(part, i); form >= 0) part.places[form] = i;
        numbers_of_kept_.assign(static_cast<std::size_t>(kept_.size()), unnumbered);
    }

    Memo build() {
        if (!parts_.empty()) number_all();
        add_roots();
        for (auto& [place, of_choices] : errors_)
            memo_.errors.push_back({place.first, place.second, std::move(of_choices)});
        return std::move(memo_);
    }

private:
    /// A bucket, and how far its goals are numbered.
    struct Part {
        int index;
        Bucket bucket;
        Ways& ways;
        std::vector<std::size_t> narrow;  // places in the order
        std::vector<int> numbers;         // of goals
        std::size_t next = 0;
        std::unordered_map<int, std::size_t> places = {};  // of kept values, in the order
    };

    /// All programs go side by side from one narrow place to the next, in the steps of the first one: the forms of a
    /// weight are then needed within one such block, whoever reads it.
    void number_all() {
        const Part& leading = parts_.front();
        std::size_t begin = 0;
        for (const std::size_t end : leading.narrow) {
            std::vector<std::size_t> ends;
            for (const Part& part : parts_) ends.push_back(end_of_block(part, begin, end));
            for (Part& part : parts_) number_shared(part, ends[static_cast<std::size_t>(part.index)]);
            for (Part& part : parts_) number_until(part, ends[static_cast<std::size_t>(part.index)]);
            begin = end;
        }
    }

    /// The kept value at a place in the order, or -1.
    int form_at(const Part& part, std::size_t place) const {
        return kept_.form(static_cast<std::size_t>(part.index), part.ways.order()[place]);
    }

    /// The narrow place behind all that a program reads of what the leading one reads in [begin, end).
    std::size_t end_of_block(const Part& part, std::size_t begin, std::size_t end) const {
        const Part& leading = parts_.front();
        if (end == leading.narrow.back()) return part.narrow.back();
        if (&part == &leading) return end;
        std::size_t last = part.next;
        for (std::size_t i = begin; i < end; ++i)
            if (const auto place = part.places.find(form_at(leading, i)); place != part.places.end())
                last = std::max(last, place->second + 1);
        return *std::lower_bound(part.narrow.begin(), part.narrow.end(), last);
    }

    /// What several programs keep comes before what they make of it.
    void number_shared(Part& part, std::size_t end) {
        for (std::size_t i = part.next; i < end; ++i)
            if (const int form = form_at(part, i); form >= 0 && kept_.readers(form) > 1)
                number(part, part.ways.order()[i]);
    }

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
            for (const Ways::Way* way : part.ways.ways(goal)) add_alternative(part, goal, *way);
            return;
        }
        const int form = kept_.form(static_cast<std::size_t>(part.index), goal);
        int& shared = numbers_of_kept_[static_cast<std::size_t>(form)];
        if (shared == unnumbered) {
            const double bytes = bytes_of(part, asked);
            if (kept_.has_rival(form)) {
                shared = add_goal(part, asked);
                memo_.goals.back().bytes = bytes;
                memo_.goals.back().held = is_read_in_place(part, asked) ? 0 : bytes;
                memo_.problem.add_alternative(bytes * price_, {}, {});
                memo_.candidates.push_back(memo_.none.get());
            } else {
                shared = always;
                memo_.always_kept_bytes += bytes;
            }
        }
        number = shared;
    }

    int add_goal(const Part& part, const Goal& goal) {
        memo_.goals.push_back({part.index, goal, 0});
        memo_.sides.push_back(goal.kept ? search::shared : part.index);
        return memo_.problem.add_goal();
    }

    void add_alternative(Part& part, int goal, const Ways::Way& way) {
        Ways::List needs, provides;
        const int own = part.numbers[static_cast<std::size_t>(goal)];
        for (const int need : way.needs) {
            const int number = part.numbers[static_cast<std::size_t>(need)];
            if (number == always) continue;
            if (number == unnumbered || number >= own) return;
            needs.push_back(number);
        }
        for (const int other : part.ways.provided_by(goal, way))
            provides.push_back(part.numbers[static_cast<std::size_t>(other)]);
        const Estimate& estimate = way.candidate.estimate;
        const bool once = part.bucket.candidates.bound()[part.ways.goal(goal).value];
        memo_.problem.add_alternative(
            once ? estimate.seconds * bind_weight : (estimate.seconds + estimate.handover) * part.bucket.weight,
            std::span(needs.data(), needs.size()), std::span(provides.data(), provides.size()));
        if (way.candidate.estimate.error > 0) add_errors(part, part.ways.goal(goal), way.candidate);
        memo_.candidates.push_back(&way.candidate);
    }

    void add_errors(const Part& part, const Goal& goal, const Candidate& candidate) {
        const Influence& influence = part.ways.influence();
        const int choice = memo_.problem.alternatives() - 1;
        for (std::size_t b = 0; b < influence.bounds().size(); ++b)
            if (shows(goal, candidate, influence, b))
                errors_[{part.index, static_cast<int>(b)}].emplace_back(choice, candidate.estimate.error);
    }

    static bool is_read_in_place(const Part& part, const Goal& goal) {
        return goal.place.layout.empty() && goal.place.device == Device::cpu &&
               part.bucket.graph.node(goal.value).op == ir::Op::weight;
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

    bool is_reachable_somewhere(const Part& part, NodeId value) const {
        const std::vector<Device>& all = part.bucket.candidates.devices().all;
        return std::any_of(all.begin(), all.end(), [&](Device device) {
            return is_reachable(part, part.bucket.candidates.home(value, device));
        });
    }

    /// Finds the lowest value out of reach that `node` rests on, and says what each kernel had against it.
    [[noreturn]] void refuse(const Part& part, NodeId node) const {
        const ir::GraphData& graph = part.bucket.graph;
        NodeId culprit = node;
        for (bool deeper = true; deeper;) {
            deeper = false;
            for (const NodeId operand : graph.node(culprit).operands) {
                const NodeId base = part.bucket.candidates.views()[operand].base;
                if (!ir::is_given(graph.node(base)) && !is_reachable_somewhere(part, base))
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
            for (const KernelAnswer& answer : part.bucket.candidates.answers(problem))
                reasons += fmt::format("; {}: {}", answer.kernel,
                                       answer.refusal.empty() ? "refused its operands' layout" : answer.refusal);
        }
        throw Error(ErrorKind::unsupported, ir::info(bad.op).name,
                    fmt::format("no kernel can make {}{}", cairn::to_string(bad.dtype, bad.shape), reasons), bad.where);
    }

    std::stop_token stop_;
    double price_;
    std::shared_ptr<std::deque<Ways>> ways_;
    KeptForms kept_;
    std::vector<Part> parts_;
    std::vector<int> numbers_of_kept_;
    std::vector<bool> reachable_;                                                // of each number
    std::map<std::pair<int, int>, std::vector<std::pair<int, double>>> errors_;  // by bucket and bound
    Memo memo_;
};

}  // namespace

Memo memo_of(std::span<const Bucket> buckets, Breadth breadth, const std::stop_token& stop, double price) {
    auto ways = std::make_shared<std::deque<Ways>>();
    for (const Bucket& bucket : buckets) ways->emplace_back(bucket, breadth, stop);
    return memo_of(buckets, std::move(ways), stop, price);
}

Memo memo_of(std::span<const Bucket> buckets, std::shared_ptr<std::deque<Ways>> ways, const std::stop_token& stop,
             double price) {
    return MemoBuilder(buckets, std::move(ways), stop, price).build();
}

}  // namespace cairn::inline v0::select
