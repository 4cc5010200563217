#pragma once

#include <cstddef>
#include <utility>
#include <vector>

/// Cost shares: the Lagrange multipliers that divide the costs of shared goals among the subproblems.
namespace cairn::search {

/// A goal that subproblems may take, with its place among the shared goals of each of them. Tied goals, which cost the
/// same and have equal shares, are one.
struct SharedGoal {
    double cost = 0;  ///< of each tied goal
    std::vector<std::pair<std::size_t, std::size_t>> at = {};
    int count = 1;
};

/// By subproblem and place: 1 if the subproblem takes the shared goal, otherwise 0; of tied goals the fraction that it
/// takes.
using SharedGoalUsage = std::vector<std::vector<double>>;

/// By subproblem and place, the cost of a shared goal to the subproblem: never negative; the shares of a goal add up to
/// its cost.
class CostShares {
public:
    /// Equal shares of each goal.
    CostShares(const std::vector<SharedGoal>& goals, std::size_t subproblems);

    double of(std::size_t subproblem, std::size_t position) const { return shares_[subproblem][position]; }
    void set(std::size_t subproblem, std::size_t position, double share) { shares_[subproblem][position] = share; }
    /// Subgradient step: raises the shares of subproblems that take a goal and lowers the others', in proportion to the
    /// goals' costs, by the length that would gain `to_gain` if no subproblem changed its choices. False if all
    /// subproblems agree, or `to_gain` is not positive.
    bool move(const std::vector<SharedGoal>& goals, const SharedGoalUsage& usage, double to_gain);
    /// Sets the shares of one subproblem to the marginal costs: 0 for a goal that another subproblem takes, if it costs
    /// less than `forbidden_cost`, otherwise the full cost; for tied goals that others take in part, the remainder.
    void set_marginal_shares(const std::vector<SharedGoal>& goals, std::size_t subproblem, const SharedGoalUsage& usage,
                             double forbidden_cost);

private:
    void set(const SharedGoal& goal, const std::vector<double>& wanted);

    std::vector<std::vector<double>> shares_;
};

}  // namespace cairn::search
