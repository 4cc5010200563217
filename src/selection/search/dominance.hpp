#pragma once

#include "selection/search/path_dag.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory_resource>
#include <vector>

/// Which ways to reach a goal have to be kept while a problem is made smaller.
namespace cairn::search {

using GoalList = std::pmr::vector<int>;  // ascending

bool contains(const GoalList& goals, int goal);

/// A way to reach a goal.
struct PresolveOption {
    double cost;
    GoalList needs, provides;
    PathSet set;
    std::uint64_t need_mask = 0;  ///< a bit for each need, some needs sharing one; none before it is asked for
};

/// An option that may stand among those of a goal: one that has stood there before, or one of a lower goal put into
/// such a one, which is done when its turn comes.
struct PruneCandidate {
    std::size_t place;
    double cost;
    PresolveOption* option;
    const PresolveOption* lower;
    bool was_kept;
};

/// How lower options are put into others: in the place of which goal, and whether into themselves or into copies.
struct Inlining {
    int goal = -1;
    bool in_place = false;
    std::size_t most = std::numeric_limits<std::size_t>::max();  ///< that may be left
    std::deque<PresolveOption> made = {};
};

/// Judges options. Where one of the cheapest paths is enough, an option goes where another one costs no more, needs no
/// other goals and provides the same, and of equal ones the first stays; but not where a goal that it alone needs may
/// bring others with it. Else options that need and provide the same become one, which has the paths of all of them.
class DominancePruner {
public:
    /// `may_provide` tells of each goal whether it, or something below it, may provide further goals. It and the space
    /// must outlive this object.
    DominancePruner(PathDag& dag, bool only_cheapest, const std::vector<bool>& may_provide)
        : dag_(dag), only_cheapest_(only_cheapest), may_provide_(may_provide) {}

    /// Leaves the options that there have to be, in the order of their places. False where too many are left.
    bool prune(std::vector<PruneCandidate>& candidates, Inlining& inlining);
    /// Goals looked at so far.
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

/// The options of entrants that are kept.
std::vector<PresolveOption> kept_options(const std::vector<PruneCandidate>& candidates);

}  // namespace cairn::search
