#pragma once

#include "selection/search/path_dag.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory_resource>
#include <vector>

/// Dominance pruning of alternatives in presolve.
namespace cairn::search {

using GoalList = std::pmr::vector<int>;  // ascending

bool contains(const GoalList& goals, int goal);

/// An alternative of a goal in presolve, with the paths that it represents.
struct PresolveOption {
    double cost;
    GoalList needs, provides;
    PathSet set;
    std::uint64_t need_mask = 0;  ///< bloom mask of `needs`, one bit for each, some shared; 0: not computed yet
};

/// A candidate for the options of a goal: one of its present options, or one with an option of a lower goal still to be
/// inlined, which is done when the candidate is processed.
struct PruneCandidate {
    std::size_t position;
    double cost;
    PresolveOption* option;
    const PresolveOption* lower;
    bool was_kept;
};

/// How lower options are inlined: the goal that they replace, and whether the upper option is modified or copied.
struct Inlining {
    int goal = -1;
    bool in_place = false;
    std::size_t most = std::numeric_limits<std::size_t>::max();  ///< maximum number of options that may remain
    std::deque<PresolveOption> made = {};
};

/// Prunes options. If one cheapest path is enough, an option is dominated by another one that costs no more, needs no
/// other goals and provides the same; of equal ones the first stays. It is not dominated if a goal that it alone needs
/// may provide others. Otherwise options that need and provide the same are merged; the result has the paths of all of
/// them.
class DominancePruner {
public:
    /// `may_provide` says for each goal whether it, or a goal below it, may provide further goals. It and the DAG must
    /// outlive this object.
    DominancePruner(PathDag& dag, bool only_cheapest, const std::vector<bool>& may_provide)
        : dag_(dag), only_cheapest_(only_cheapest), may_provide_(may_provide) {}

    /// Keeps the options that are required, in the order of their places. False if too many remain.
    bool prune(std::vector<PruneCandidate>& candidates, Inlining& inlining);
    /// Number of goals visited so far.
    std::size_t work() const noexcept { return work_; }

private:
    bool dominates(PresolveOption& one, PresolveOption& other);
    bool keep_undominated(std::vector<PruneCandidate>& candidates, Inlining& inlining);
    bool merge_equal(std::vector<PruneCandidate>& candidates, Inlining& inlining);
    bool may_provide(int goal) const { return may_provide_[static_cast<std::size_t>(goal)]; }

    PathDag& dag_;
    bool only_cheapest_;
    const std::vector<bool>& may_provide_;
    std::size_t work_ = 0;
};

/// The options of the candidates kept.
std::vector<PresolveOption> kept_options(const std::vector<PruneCandidate>& candidates);

}  // namespace cairn::search
