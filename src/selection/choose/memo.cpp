#include "selection/choose/memo.hpp"

#include "graph/ir/op_table.hpp"
#include "selection/choose/kept_weights.hpp"
#include "selection/choose/narrow_cuts.hpp"
#include "selection/search/decomposition.hpp"
#include "selection/search/presolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace cairn::selection {
namespace {

using ir::NodeId;

// Goal numbers with a special meaning: not numbered; and always available, so that nothing needs to depend on it.
constexpr int unnumbered = -1, always_available = -2;

class MemoBuilder {
public:
    MemoBuilder(std::span<const Bucket> buckets, std::shared_ptr<std::deque<Producers>> producers,
                const std::stop_token& stop, double price)
        : stop_(stop), seconds_per_kept_byte_(price), producers_(std::move(producers)), kept_(buckets, *producers_) {
        memo_.producers = producers_;
        for (std::size_t b = 0; b < buckets.size(); ++b)
            numberings_.push_back({static_cast<int>(b), buckets[b], (*producers_)[b],
                                   narrow_cuts(buckets[b], (*producers_)[b]),
                                   std::vector<int>((*producers_)[b].size(), unnumbered)});
        for (BucketNumbering& numbering : numberings_)
            for (std::size_t i = 0; i < numbering.producers.order().size(); ++i)
                if (const int form = form_at(numbering, i); form >= 0) numbering.places[form] = i;
        numbers_of_kept_.assign(static_cast<std::size_t>(kept_.size()), unnumbered);
    }

    Memo build() {
        if (!numberings_.empty()) number_all();
        add_roots();
        for (auto& [place, of_choices] : errors_)
            memo_.errors.push_back({place.first, place.second, std::move(of_choices)});
        return std::move(memo_);
    }

private:
    /// A bucket, and how far its goals are numbered.
    struct BucketNumbering {
        int index;
        Bucket bucket;
        Producers& producers;
        std::vector<std::size_t> narrow;  // positions in the order
        std::vector<int> numbers;         // by goal
        std::size_t next = 0;
        std::unordered_map<int, std::size_t> places = {};  // of kept values, in the order
    };

    /// Numbers the goals of all programs block by block, from one narrow cut of the first program to the next. All
    /// forms of a weight are then needed within one block, whichever programs read it.
    void number_all() {
        const BucketNumbering& leading = numberings_.front();
        std::size_t begin = 0;
        for (const std::size_t end : leading.narrow) {
            std::vector<std::size_t> ends;
            for (const BucketNumbering& numbering : numberings_) ends.push_back(end_of_block(numbering, begin, end));
            for (BucketNumbering& numbering : numberings_)
                number_shared(numbering, ends[static_cast<std::size_t>(numbering.index)]);
            for (BucketNumbering& numbering : numberings_)
                number_until(numbering, ends[static_cast<std::size_t>(numbering.index)]);
            begin = end;
        }
    }

    /// The kept form at a position in the order, or -1.
    int form_at(const BucketNumbering& numbering, std::size_t place) const {
        return kept_.form(static_cast<std::size_t>(numbering.index), numbering.producers.order()[place]);
    }

    /// The narrow cut behind all weights of this program that the leading one reads in [begin, end).
    std::size_t end_of_block(const BucketNumbering& numbering, std::size_t begin, std::size_t end) const {
        const BucketNumbering& leading = numberings_.front();
        if (end == leading.narrow.back()) return numbering.narrow.back();
        if (&numbering == &leading) return end;
        std::size_t last = numbering.next;
        for (std::size_t i = begin; i < end; ++i)
            if (const auto place = numbering.places.find(form_at(leading, i)); place != numbering.places.end())
                last = std::max(last, place->second + 1);
        return *std::lower_bound(numbering.narrow.begin(), numbering.narrow.end(), last);
    }

    /// Forms kept for several programs are numbered before the goals that depend on them.
    void number_shared(BucketNumbering& numbering, std::size_t end) {
        for (std::size_t i = numbering.next; i < end; ++i)
            if (const int form = form_at(numbering, i); form >= 0 && kept_.readers(form) > 1)
                number(numbering, numbering.producers.order()[i]);
    }

    void number_until(BucketNumbering& numbering, std::size_t end) {
        for (; numbering.next < end; ++numbering.next) {
            if (stop_.stop_requested()) throw Cancelled("select");
            number(numbering, numbering.producers.order()[numbering.next]);
        }
    }

    void number(BucketNumbering& numbering, int goal) {
        int& number = numbering.numbers[static_cast<std::size_t>(goal)];
        const Goal& request = numbering.producers.goal(goal);
        if (!request.kept) {
            number = add_goal(numbering, request);
            for (const Producers::Producer* producer : numbering.producers.producers(goal))
                add_alternative(numbering, goal, *producer);
            return;
        }
        const int form = kept_.form(static_cast<std::size_t>(numbering.index), goal);
        int& shared = numbers_of_kept_[static_cast<std::size_t>(form)];
        if (shared == unnumbered) {
            const double bytes = numbering.bucket.candidates.bytes_of(request);
            if (kept_.has_other_form(form)) {
                shared = add_goal(numbering, request);
                memo_.goals.back().bytes = bytes;
                memo_.goals.back().prepacked_bytes = is_read_in_place(numbering, request) ? 0 : bytes;
                memo_.goals.back().price =
                    numbering.bucket.candidates.priced_bytes_of(request) * seconds_per_kept_byte_;
                memo_.problem.add_alternative(memo_.goals.back().price, {}, {});
                memo_.candidates.push_back(memo_.none.get());
            } else {
                shared = always_available;
                memo_.always_kept_bytes += bytes;
            }
        }
        number = shared;
    }

    int add_goal(const BucketNumbering& numbering, const Goal& goal) {
        memo_.goals.push_back({numbering.index, goal, 0});
        memo_.subproblem_of.push_back(goal.kept ? search::shared : numbering.index);
        return memo_.problem.add_goal();
    }

    void add_alternative(BucketNumbering& numbering, int goal, const Producers::Producer& producer) {
        Producers::List needs, provides;
        const int own = numbering.numbers[static_cast<std::size_t>(goal)];
        for (const int need : producer.needs) {
            const int number = numbering.numbers[static_cast<std::size_t>(need)];
            if (number == always_available) continue;
            if (number == unnumbered || number >= own) return;
            needs.push_back(number);
        }
        for (const int other : numbering.producers.provided_by(goal, producer))
            provides.push_back(numbering.numbers[static_cast<std::size_t>(other)]);
        const Estimate& estimate = producer.candidate.estimate;
        const bool once = numbering.bucket.candidates.bound()[numbering.producers.goal(goal).value];
        memo_.problem.add_alternative(
            once ? estimate.seconds * bind_weight
                 : (estimate.seconds + estimate.cross_core_transfer) * numbering.bucket.weight,
            std::span(needs.data(), needs.size()), std::span(provides.data(), provides.size()));
        if (producer.candidate.error() > 0) add_errors(numbering, numbering.producers.goal(goal), producer.candidate);
        memo_.candidates.push_back(&producer.candidate);
    }

    void add_errors(const BucketNumbering& numbering, const Goal& goal, const Candidate& candidate) {
        const accuracy::ErrorInfluence& influence = numbering.producers.influence();
        const int choice = memo_.problem.alternatives() - 1;
        const double square = accuracy::error_square(candidate.error());
        for (std::size_t b = 0; b < influence.bounds().size(); ++b)
            if (influences(goal, candidate, influence, b))
                errors_[{numbering.index, static_cast<int>(b)}].emplace_back(choice, square);
    }

    static bool is_read_in_place(const BucketNumbering& numbering, const Goal& goal) {
        return goal.place.layout.empty() && goal.place.device == Device::cpu &&
               numbering.bucket.graph.node(goal.value).op == ir::Op::weight;
    }

    void add_roots() {
        reachable_ = search::reachable_goals(memo_.problem);
        for (BucketNumbering& numbering : numberings_)
            for (const Goal& root : numbering.producers.roots()) {
                if (!is_reachable(numbering, root)) refuse(numbering, root.value);
                memo_.problem.add_root(numbering.numbers[static_cast<std::size_t>(*numbering.producers.find(root))]);
            }
    }

    bool is_reachable(const BucketNumbering& numbering, const Goal& goal) const {
        const std::optional<int> found = numbering.producers.find(goal);
        const int number = found ? numbering.numbers[static_cast<std::size_t>(*found)] : -1;
        return number >= 0 && reachable_[static_cast<std::size_t>(number)];
    }

    bool is_reachable_somewhere(const BucketNumbering& numbering, NodeId value) const {
        const std::vector<Device>& all = numbering.bucket.candidates.devices().all;
        return std::any_of(all.begin(), all.end(), [&](Device device) {
            return is_reachable(numbering, numbering.bucket.candidates.storage_goal(value, device));
        });
    }

    /// Finds the lowest unreachable value that `node` depends on; throws with each kernel's refusal.
    [[noreturn]] void refuse(const BucketNumbering& numbering, NodeId node) const {
        const ir::GraphData& graph = numbering.bucket.graph;
        NodeId unreachable = node;
        for (bool deeper = true; deeper;) {
            deeper = false;
            for (const NodeId operand : graph.node(unreachable).operands) {
                const NodeId base = numbering.bucket.candidates.views()[operand].base;
                if (!ir::is_given(graph.node(base)) && !is_reachable_somewhere(numbering, base))
                    unreachable = base, deeper = true;
            }
        }
        const ir::Node& bad = graph.node(unreachable);
        std::string reasons;
        for (const fusion::Match& match : numbering.bucket.matches) {
            if (!is_single_node(match, graph) || match.outputs[0] != unreachable) continue;
            Problem problem;
            problem.definition = match.definition;
            problem.attributes = match.attributes;
            for (const NodeId input : match.inputs)
                problem.inputs.push_back(TensorDesc::dense(graph.node(input).dtype, graph.node(input).shape));
            problem.outputs.push_back(TensorDesc::dense(bad.dtype, bad.shape));
            for (const KernelAnswer& answer : numbering.bucket.candidates.answers(problem))
                reasons += fmt::format("; {}: {}", answer.kernel,
                                       answer.refusal.empty() ? "refused its operands' layout" : answer.refusal);
        }
        throw Error(ErrorKind::unsupported, ir::info(bad.op).name,
                    fmt::format("no kernel can compute {}{}", cairn::to_string(bad.dtype, bad.shape), reasons),
                    bad.where);
    }

    std::stop_token stop_;
    double seconds_per_kept_byte_;
    std::shared_ptr<std::deque<Producers>> producers_;
    KeptWeights kept_;
    std::vector<BucketNumbering> numberings_;
    std::vector<int> numbers_of_kept_;
    std::vector<bool> reachable_;                                                // by number
    std::map<std::pair<int, int>, std::vector<std::pair<int, double>>> errors_;  // by bucket and budget
    Memo memo_;
};

}  // namespace

Memo memo_of(std::span<const Bucket> buckets, Breadth breadth, const std::stop_token& stop, double price) {
    auto producers = std::make_shared<std::deque<Producers>>();
    for (const Bucket& bucket : buckets) producers->emplace_back(bucket, breadth, stop);
    return memo_of(buckets, std::move(producers), stop, price);
}

Memo memo_of(std::span<const Bucket> buckets, std::shared_ptr<std::deque<Producers>> producers,
             const std::stop_token& stop, double price) {
    return MemoBuilder(buckets, std::move(producers), stop, price).build();
}

}  // namespace cairn::selection
