#include "selection/search/cost_shares.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace cairn::search {
namespace {

/// Subgradient: the deviation of a subproblem's usage (1 if it takes the goal, otherwise 0) from the mean of all.
double subgradient(const SharedGoal& goal, const SharedGoalUsage& usage, std::size_t i) {
    double mean = 0;
    for (const auto& [subproblem, position] : goal.at) mean += usage[subproblem][position];
    const auto& [subproblem, position] = goal.at[i];
    return usage[subproblem][position] - mean / static_cast<double>(goal.at.size());
}

}  // namespace

CostShares::CostShares(const std::vector<SharedGoal>& goals, std::size_t subproblems) : shares_(subproblems) {
    for (const SharedGoal& goal : goals)
        for (const auto& [subproblem, position] : goal.at) {
            shares_[subproblem].resize(std::max(shares_[subproblem].size(), position + 1));
            shares_[subproblem][position] = goal.cost / static_cast<double>(goal.at.size());
        }
}

bool CostShares::move(const std::vector<SharedGoal>& goals, const SharedGoalUsage& usage, double to_gain) {
    double squares = 0;
    for (const SharedGoal& goal : goals)
        for (std::size_t i = 0; i < goal.at.size(); ++i) {
            const double off = subgradient(goal, usage, i);
            squares += off * off * goal.cost * goal.count;
        }
    if (squares <= 0 || to_gain <= 0) return false;
    std::vector<double> moved;
    for (const SharedGoal& goal : goals) {
        if (goal.at.size() < 2 || goal.cost <= 0) continue;
        moved.clear();
        for (std::size_t i = 0; i < goal.at.size(); ++i)
            moved.push_back(of(goal.at[i].first, goal.at[i].second) +
                            to_gain / squares * goal.cost * subgradient(goal, usage, i));
        set(goal, moved);
    }
    return true;
}

void CostShares::set_marginal_shares(const std::vector<SharedGoal>& goals, std::size_t subproblem,
                                     const SharedGoalUsage& usage, double forbidden_cost) {
    for (const SharedGoal& goal : goals) {
        double usage_by_others = 0;
        for (const auto& [at, position] : goal.at)
            if (at != subproblem && goal.cost < forbidden_cost)
                usage_by_others = std::max(usage_by_others, usage[at][position]);
        for (const auto& [at, position] : goal.at)
            if (at == subproblem) shares_[at][position] = (1 - usage_by_others) * goal.cost;
    }
}

/// Projects onto the simplex: the nearest non-negative shares that add up to the cost.
void CostShares::set(const SharedGoal& goal, const std::vector<double>& wanted) {
    std::vector<double> descending = wanted;
    std::sort(descending.begin(), descending.end(), std::greater<>());
    double sum = 0, off = 0;
    for (std::size_t i = 0; i < descending.size(); ++i) {
        sum += descending[i];
        const double off_so_far = (sum - goal.cost) / static_cast<double>(i + 1);
        if (descending[i] > off_so_far) off = off_so_far;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i)
        shares_[goal.at[i].first][goal.at[i].second] = std::max(0.0, wanted[i] - off);
}

}  // namespace cairn::search
