#pragma once

#include "program/memory_plan/placer.hpp"
#include "program/memory_plan/relation.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <vector>

namespace cairn::memory_plan {

/// How good a plan is: its worst ratio of height to lower bound over the samples, then the sum of these ratios. Smaller
/// is better.
struct Score {
    double worst = 0, sum = 0;
    bool optimal = false;  ///< every height equals its bound
    bool operator<(const Score& other) const noexcept {
        return worst != other.worst ? worst < other.worst : sum < other.sum;
    }
};

/// What may still be spent. Counted in work, so that equal problems get equal plans on any machine; the time limit,
/// where there is one, gives that up.
struct PackingBudget {
    std::int64_t placements = 0;
    std::int64_t work = 0;
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::stop_token stop = {};

    bool spent() const {
        return placements <= 0 || work <= 0 || stop.stop_requested() ||
               (deadline != std::chrono::steady_clock::time_point::max() &&
                std::chrono::steady_clock::now() >= deadline);
    }
};

/// A way to make a plan: the order of placing, the sizes to place at, the choice of gap.
struct PackingCandidate {
    std::vector<int> order;
    int column = 0;
    GapFit fit = GapFit::first;
    Score score;
};

/// Turns candidates into scored plans and remembers the best.
///
/// Placing looks at one column of sizes only; a plan is judged by its relation, evaluated at all samples. So a
/// candidate placed at N = 1024 may well be the best at N = 1, and no candidate can be valid at one size and wrong at
/// another.
class PackingSearch {
public:
    PackingSearch(const PackingProblem& problem, const LiveIntervals& intervals, const Sizes& sizes,
                  std::span<const std::int64_t> lower_bound, PackingBudget budget);

    /// Every rule at every column, first fit, then best fit, until a plan is within a thousandth of its bounds or the
    /// budget is spent.
    void portfolio();

    /// Changes the orders of the best candidates where they hurt: takes a buffer out of the stack that makes the height
    /// and places it earlier or later. Goes on as long: what is left then is not worth the time, and seldom to be had.
    void improve();

    /// False where it was stopped before it had one.
    bool has_plan() const { return best_score_.worst < std::numeric_limits<double>::infinity(); }
    const Relation& best() const { return best_relation_; }
    const Score& best_score() const { return best_score_; }

private:
    bool is_good_enough() const;
    Score evaluate(const PackingCandidate& candidate);
    void add_to_elite(const PackingCandidate& candidate);
    void hill_climb(PackingCandidate candidate, std::int64_t placements);
    std::vector<int> critical_stack() const;
    void perturb(std::vector<int>& order, const std::vector<int>& stack);
    std::uint32_t random(std::size_t below);

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
    std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

}  // namespace cairn::memory_plan
