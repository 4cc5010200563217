#include "program/memory_plan/packing_search.hpp"

#include "program/memory_plan/ceiling_search.hpp"
#include "program/memory_plan/placement_orders.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cairn::memory_plan {
namespace {

constexpr std::size_t elite_size = 4;

// The search ends at this ratio of height to bound.
constexpr double near_bound_ratio = 1.001;

double ratio(std::int64_t height, std::int64_t bound) {
    return static_cast<double>(height) / static_cast<double>(std::max<std::int64_t>(bound, 1));
}

}  // namespace

PackingSearch::PackingSearch(const PackingProblem& problem, const LiveIntervals& intervals, const Sizes& sizes,
                             std::span<const std::int64_t> lower_bound, PackingBudget budget)
    : problem_(&problem),
      intervals_(&intervals),
      sizes_(&sizes),
      lower_bound_(lower_bound),
      budget_(budget),
      placer_(problem, intervals, budget.stop),
      relation_builder_(problem, intervals),
      evaluator_(problem, sizes) {
    best_score_.worst = std::numeric_limits<double>::infinity();
}

Score PackingSearch::evaluate(const PackingCandidate& candidate) {
    --budget_.placements;
    budget_.work -= placer_.place(candidate.order, *sizes_, candidate.column, candidate.fit);
    if (budget_.stop.stop_requested()) return {std::numeric_limits<double>::infinity(), 0, false};
    placer_.list_by_offset(relation_.order);
    relation_builder_.build(relation_);
    evaluator_.evaluate(relation_);
    Score score{0, 0, true};
    for (std::size_t s = 0; s < lower_bound_.size(); ++s) {
        const std::int64_t height = evaluator_.height()[s], bound = lower_bound_[s];
        score.optimal = score.optimal && height == bound;
        score.worst = std::max(score.worst, ratio(height, bound));
        score.sum += ratio(height, bound);
    }
    if (score < best_score_) {
        best_score_ = score;
        best_relation_ = relation_;
    }
    return score;
}

void PackingSearch::add_to_elite(const PackingCandidate& candidate) {
    const auto equal = [&](const PackingCandidate& other) {
        return other.order == candidate.order && other.column == candidate.column;
    };
    if (std::any_of(elite_.begin(), elite_.end(), equal)) return;
    const auto at =
        std::upper_bound(elite_.begin(), elite_.end(), candidate,
                         [](const PackingCandidate& a, const PackingCandidate& b) { return a.score < b.score; });
    elite_.insert(at, candidate);
    if (elite_.size() > elite_size) elite_.pop_back();
}

void PackingSearch::portfolio() {
    // The last column is the blend of all samples, the most likely to suit them all. Then the samples from the last,
    // usually the largest.
    for (const GapFit fit : {GapFit::first, GapFit::best}) {
        for (int rule = 0; rule < order_rules; ++rule) {
            for (int column = sizes_->columns - 1; column >= 0; --column) {
                if (budget_.stop.stop_requested() || (has_plan() && (is_near_bound() || budget_.spent()))) return;
                PackingCandidate candidate{
                    order_by(static_cast<OrderRule>(rule), *intervals_, *sizes_, column), column, fit, {}};
                candidate.score = evaluate(candidate);
                add_to_elite(candidate);
            }
        }
    }
}

void PackingSearch::lower() {
    const int samples = static_cast<int>(lower_bound_.size());
    evaluator_.evaluate(best_relation_);
    lower(worst_sample(), samples == 1 ? budget_.steps : budget_.steps / 2);
    if (samples > 1) lower(samples, budget_.steps);
}

void PackingSearch::lower(int column, std::int64_t steps) {
    if (is_near_bound() || steps <= 0 || budget_.stopped()) return;
    CeilingSearch search(*problem_, *intervals_, *sizes_, column, best_relation_.order, placer_);
    while (search.steps() < steps && !budget_.stopped() && search.attempt(steps - search.steps(), budget_.stop)) {}
    budget_.steps -= search.steps();
    PackingCandidate candidate{search.order(), column, GapFit::first, {}};
    candidate.score = evaluate(candidate);
    add_to_elite(candidate);
}

bool PackingSearch::is_near_bound() const { return best_score_.optimal || best_score_.worst <= near_bound_ratio; }

void PackingSearch::improve() {
    for (std::size_t i = 0; i < elite_.size() && !is_near_bound() && !budget_.spent(); ++i) {
        const auto share = budget_.placements / static_cast<std::int64_t>(elite_.size() - i);
        hill_climb(elite_[i], share);
    }
}

void PackingSearch::hill_climb(PackingCandidate candidate, std::int64_t placements) {
    std::vector<int> stack;
    candidate.score = evaluate(candidate);
    stack = critical_stack();
    PackingCandidate trial = candidate;
    while (--placements > 0 && !is_near_bound() && !budget_.spent() && !stack.empty()) {
        trial.order = candidate.order;
        perturb(trial.order, stack);
        trial.column = random_.below(8) == 0
                           ? static_cast<int>(random_.below(static_cast<std::size_t>(sizes_->columns)))
                           : candidate.column;
        trial.score = evaluate(trial);
        if (candidate.score < trial.score) continue;
        std::swap(candidate.order, trial.order);
        candidate.column = trial.column;
        candidate.score = trial.score;
        stack = critical_stack();
    }
}

// The sample with the worst ratio in the plan evaluated last.
int PackingSearch::worst_sample() const {
    int sample = 0;
    double worst = -1;
    for (int s = 0; s < static_cast<int>(lower_bound_.size()); ++s) {
        if (const double r = ratio(evaluator_.height()[s], lower_bound_[s]); r > worst) worst = r, sample = s;
    }
    return sample;
}

std::vector<int> PackingSearch::critical_stack() const {
    const int sample = worst_sample();
    // From the top down. Buffers below come earlier in the order, so one backward pass finds the whole stack.
    std::vector<int> stack;
    std::int64_t end = evaluator_.height()[sample];
    int wanted = -1;
    for (int p = static_cast<int>(relation_.order.size()) - 1; p >= 0; --p) {
        const int b = relation_.order[p];
        if (wanted >= 0 ? b != wanted : evaluator_.end(b, sample) != end) continue;
        stack.push_back(b);
        if (relation_.start[p] == relation_.start[p + 1]) break;
        wanted = *std::max_element(relation_.below.begin() + relation_.start[p],
                                   relation_.below.begin() + relation_.start[p + 1],
                                   [&](int x, int y) { return evaluator_.end(x, sample) < evaluator_.end(y, sample); });
    }
    return stack;
}

void PackingSearch::perturb(std::vector<int>& order, const std::vector<int>& stack) {
    const int moved = stack[random_.below(stack.size())];
    const auto at = std::find(order.begin(), order.end(), moved);
    const std::span<const int> others = placer_.conflicts(moved);
    switch (random_.below(4)) {
        case 0: {  // past a conflicting buffer
            if (others.empty()) return;
            const auto other = std::find(order.begin(), order.end(), others[random_.below(others.size())]);
            if (other < at)
                std::rotate(other, at, at + 1);
            else
                std::rotate(at, at + 1, other + 1);
            return;
        }
        case 1: {  // anywhere earlier
            if (at == order.begin()) return;
            std::rotate(order.begin() + random_.below(static_cast<std::size_t>(at - order.begin())), at, at + 1);
            return;
        }
        case 2: {  // swap with another buffer of the stack
            std::iter_swap(at, std::find(order.begin(), order.end(), stack[random_.below(stack.size())]));
            return;
        }
        default: std::iter_swap(at, order.begin() + random_.below(order.size()));
    }
}

}  // namespace cairn::memory_plan
