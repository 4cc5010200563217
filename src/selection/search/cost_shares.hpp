#pragma once

#include <cstddef>
#include <utility>
#include <vector>

/// What goals that several sides share cost each of them.
namespace cairn::search {

/// A goal that sides may take, and where: the side, and its place among the shared goals there. Or several that are
/// tied: they cost the same and have equal shares.
struct SharedGoal {
    double cost = 0;  ///< of one
    std::vector<std::pair<std::size_t, std::size_t>> at = {};
    int count = 1;
};

/// Which of its shared goals each side takes, by place: 1 or 0; of tied ones which part.
using SharedGoalUsage = std::vector<std::vector<double>>;

/// Of each side what its shared goals cost it, by place: never below 0, and of each goal in all what that costs.
class CostShares {
public:
    /// Equal shares of each goal.
    CostShares(const std::vector<SharedGoal>& goals, std::size_t subproblems);

    double of(std::size_t subproblem, std::size_t place) const { return shares_[subproblem][place]; }
    void set(std::size_t subproblem, std::size_t place, double share) { shares_[subproblem][place] = share; }
    /// Sides that take a goal pay more of it, the others less, goals in proportion to their cost, so that `to_gain`
    /// would be gained if nobody took other goals then. False where all sides agree, or nothing is to be gained.
    bool move(const std::vector<SharedGoal>& goals, const SharedGoalUsage& usage, double to_gain);
    /// The whole cost for one side, or nothing where another side takes the goal and it costs less than
    /// `forbidden_cost`; of tied goals of which others take a part, the rest of the cost.
    void set_marginal_shares(const std::vector<SharedGoal>& goals, std::size_t subproblem, const SharedGoalUsage& usage,
                             double forbidden_cost);

private:
    void set(const SharedGoal& goal, const std::vector<double>& wanted);

    std::vector<std::vector<double>> shares_;
};

}  // namespace cairn::search
