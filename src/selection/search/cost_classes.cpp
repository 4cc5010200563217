#include "selection/search/cost_classes.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace cairn::search {
namespace {

/// The originals of a shared goal in each subproblem, and its cost. Goals with equal keys are tied.
struct SharedGoalKey {
    std::vector<int> originals;
    double cost = 0;
    friend auto operator<=>(const SharedGoalKey&, const SharedGoalKey&) = default;
};

std::map<int, SharedGoalKey> shared_goal_keys(std::span<const SubproblemChoices> subproblems) {
    std::map<int, SharedGoalKey> keys;
    for (std::size_t s = 0; s < subproblems.size(); ++s)
        for (std::size_t c = 0; c < subproblems[s].goals.size(); ++c) {
            if (subproblems[s].goals[c] < 0) continue;
            SharedGoalKey& key = keys[subproblems[s].goals[c]];
            key.originals.resize(subproblems.size(), -1);
            key.originals[s] = subproblems[s].originals[c];
            key.cost = subproblems[s].costs[c];
        }
    return keys;
}

class CostClassBuilder {
public:
    CostClassBuilder(std::span<const SubproblemChoices> subproblems) : subproblems_(subproblems) {
        std::map<SharedGoalKey, std::size_t> numbers;
        for (auto& [goal, key] : shared_goal_keys(subproblems)) {
            const auto [it, fresh] = numbers.try_emplace(std::move(key), classes_.goals.size());
            if (fresh) classes_.goals.push_back({it->first.cost, {}, 0});
            ++classes_.goals[it->second].count;
            tied_[goal] = it->second;
        }
        for (std::size_t s = 0; s < subproblems.size(); ++s) add_subproblem(s);
    }
    CostClasses classes() { return std::move(classes_); }

private:
    void add_subproblem(std::size_t s) {
        const SubproblemChoices& subproblem = subproblems_[s];
        std::vector<int>& cost_classes = classes_.cost_classes.emplace_back(subproblem.costs.size(), -1);
        std::vector<double>& costs = classes_.costs.emplace_back();
        const auto add_cost_class = [&](double cost) {
            costs.push_back(cost);
            return static_cast<int>(costs.size()) - 1;
        };
        std::vector<int> positions(classes_.goals.size(), -1);
        for (std::size_t c = 0; c < cost_classes.size(); ++c) {
            if (subproblem.goals[c] < 0) continue;
            const std::size_t tied = tied_.at(subproblem.goals[c]);
            if (positions[tied] < 0) {
                positions[tied] = add_cost_class(subproblem.costs[c]);
                classes_.goals[tied].at.emplace_back(s, static_cast<std::size_t>(positions[tied]));
            }
            cost_classes[c] = positions[tied];
        }
        std::vector<int> known(cost_classes.size(), -1);  // by original
        for (std::size_t c = 0; c < cost_classes.size(); ++c) {
            if (subproblem.goals[c] >= 0) continue;
            int& cost_class = known[static_cast<std::size_t>(subproblem.originals[c])];
            if (cost_class < 0) cost_class = add_cost_class(subproblem.costs[c]);
            cost_classes[c] = costs[static_cast<std::size_t>(cost_class)] == subproblem.costs[c]
                                  ? cost_class
                                  : add_cost_class(subproblem.costs[c]);
        }
    }

    std::span<const SubproblemChoices> subproblems_;
    std::map<int, std::size_t> tied_;  // by shared goal
    CostClasses classes_;
};

}  // namespace

std::vector<int> originals_of(const PathDag& dag, std::size_t choices) {
    constexpr int unnamed = -1;
    std::vector<int> originals(choices, unnamed);
    for (int renaming = 0; renaming < dag.renamings(); ++renaming)
        for (const auto& [choice, name] : dag.renaming_pairs(renaming)) {
            int& original = originals[static_cast<std::size_t>(name)];
            // A choice that represents several others is equal to none of them.
            original = original == unnamed || original == choice ? choice : name;
        }
    for (std::size_t c = 0; c < choices; ++c)
        if (originals[c] == unnamed) originals[c] = static_cast<int>(c);
    return originals;
}

bool CostClasses::any() const {
    return std::any_of(goals.begin(), goals.end(), [](const SharedGoal& goal) { return goal.count > 1; });
}

CostClasses cost_classes_of(std::span<const SubproblemChoices> subproblems) {
    return CostClassBuilder(subproblems).classes();
}

}  // namespace cairn::search
