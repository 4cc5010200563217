#pragma once

#include "program/memory_plan/placer.hpp"
#include "program/memory_plan/relation.hpp"
#include "program/memory_plan/xorshift.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::memory_plan {

/// Score of a plan: its worst ratio of height to lower bound over the samples, then the sum of these ratios. Smaller is
/// better.
struct Score {
    double worst = 0, sum = 0;
    bool optimal = false;  ///< every height equals its bound
    bool operator<(const Score& other) const noexcept {
        return worst != other.worst ? worst < other.worst : sum < other.sum;
    }
};

/// Remaining budget of the search. Counted in work, so that equal problems get equal plans on any machine; a time limit
/// gives that up.
struct PackingBudget {
    std::int64_t placements = 0;
    std::int64_t work = 0;
    std::int64_t steps = 0;  ///< of the search below ceilings
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::stop_token stop = {};

    bool spent() const { return placements <= 0 || work <= 0 || stopped(); }
    bool stopped() const {
        return stop.stop_requested() || (deadline != std::chrono::steady_clock::time_point::max() &&
                                         std::chrono::steady_clock::now() >= deadline);
    }
};

/// Parameters of one placement: the order, the column of sizes to place at, the choice of gap.
struct PackingCandidate {
    std::vector<int> order;
    int column = 0;
    GapFit fit = GapFit::first;
    Score score;
};

/// Evaluates candidates to scored plans and keeps the best.
///
/// Placement uses one column of sizes only; a plan is scored by its relation, evaluated at all samples. So a candidate
/// placed at N = 1024 may be the best at N = 1, and no candidate can be valid at one size and wrong at another.
class PackingSearch {
public:
    PackingSearch(const PackingProblem& problem, const LiveIntervals& intervals, const Sizes& sizes,
                  std::span<const std::int64_t> lower_bound, PackingBudget budget);

    /// Tries every rule at every column, first fit, then best fit, until a plan is within a thousandth of its bounds or
    /// the budget is spent.
    void portfolio();

    /// Lowers the best plan by CeilingSearch: at the sample of the worst ratio, and if there are several, with half of
    /// the steps, at the blend of all.
    void lower();

    /// Hill climbing on the best candidates: takes a buffer of the stack that determines the height and places it
    /// earlier or later. Stops at the same threshold: a smaller gain is not worth the time and seldom attainable.
    void improve();

    /// False if the search was stopped before it had a plan.
    bool has_plan() const { return best_score_.worst < std::numeric_limits<double>::infinity(); }
    const Relation& best() const { return best_relation_; }
    const Score& best_score() const { return best_score_; }

private:
    bool is_near_bound() const;
    Score evaluate(const PackingCandidate& candidate);
    int worst_sample() const;
    void lower(int column, std::int64_t steps);
    void add_to_elite(const PackingCandidate& candidate);
    void hill_climb(PackingCandidate candidate, std::int64_t placements);
    std::vector<int> critical_stack() const;
    void perturb(std::vector<int>& order, const std::vector<int>& stack);

    const PackingProblem* problem_;
    const LiveIntervals* intervals_;
    const Sizes* sizes_;
    std::span<const std::int64_t> lower_bound_;
    PackingBudget budget_;
    Placer placer_;
    RelationBuilder relation_builder_;
    Evaluator evaluator_;
    Relation relation_, best_relation_;
    Score best_score_;
    std::vector<PackingCandidate> elite_;
    Xorshift random_;
};

}  // namespace cairn::memory_plan
