#include "search/shares.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace cairn::search {
namespace {

/// How far a side is off the mean of all, each being 1 if it takes the goal and 0 if not.
double off_mean(const SharedGoal& goal, const Takes& takes, std::size_t i) {
    double mean = 0;
    for (const auto& [side, place] : goal.at) mean += takes[side][place];
    const auto& [side, place] = goal.at[i];
    return takes[side][place] - mean / static_cast<double>(goal.at.size());
}

}  // namespace

Shares::Shares(const std::vector<SharedGoal>& goals, std::size_t sides) : shares_(sides) {
    for (const SharedGoal& goal : goals)
        for (const auto& [side, place] : goal.at) {
            shares_[side].resize(std::max(shares_[side].size(), place + 1));
            shares_[side][place] = goal.cost / static_cast<double>(goal.at.size());
        }
}

bool Shares::move(const std::vector<SharedGoal>& goals, const Takes& takes, double to_gain) {
    double squares = 0;
    for (const SharedGoal& goal : goals)
        for (std::size_t i = 0; i < goal.at.size(); ++i) {
            const double off = off_mean(goal, takes, i);
            squares += off * off * goal.cost * goal.count;
        }
    if (squares <= 0 || to_gain <= 0) return false;
    std::vector<double> moved;
    for (const SharedGoal& goal : goals) {
        if (goal.at.size() < 2 || goal.cost <= 0) continue;
        moved.clear();
        for (std::size_t i = 0; i < goal.at.size(); ++i)
            moved.push_back(of(goal.at[i].first, goal.at[i].second) +
                            to_gain / squares * goal.cost * off_mean(goal, takes, i));
        set(goal, moved);
    }
    return true;
}

void Shares::set_whole(const std::vector<SharedGoal>& goals, std::size_t side, const Takes& takes, double avoided) {
    for (const SharedGoal& goal : goals) {
        double is_there = 0;
        for (const auto& [at, place] : goal.at)
            if (at != side && goal.cost < avoided) is_there = std::max(is_there, takes[at][place]);
        for (const auto& [at, place] : goal.at)
            if (at == side) shares_[at][place] = (1 - is_there) * goal.cost;
    }
}

/// The nearest shares that are none below 0 and add up to the cost.
void Shares::set(const SharedGoal& goal, const std::vector<double>& wanted) {
    std::vector<double> falling = wanted;
    std::sort(falling.begin(), falling.end(), std::greater<>());
    double sum = 0, off = 0;
    for (std::size_t i = 0; i < falling.size(); ++i) {
        sum += falling[i];
        const double off_so_far = (sum - goal.cost) / static_cast<double>(i + 1);
        if (falling[i] > off_so_far) off = off_so_far;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i)
        shares_[goal.at[i].first][goal.at[i].second] = std::max(0.0, wanted[i] - off);
}

}  // namespace cairn::search
