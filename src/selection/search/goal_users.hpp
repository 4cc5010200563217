#pragma once

#include "selection/search/search_problem.hpp"

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace cairn::search {

/// For each goal of a problem, the alternatives that need it, ascending.
class GoalUsers {
public:
    explicit GoalUsers(const SearchProblem& problem) : first_(static_cast<std::size_t>(problem.goals()) + 1) {
        for (int choice = 0; choice < problem.alternatives(); ++choice)
            for (const int need : problem.alternative(choice).needs) ++first_[static_cast<std::size_t>(need) + 1];
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        users_.resize(first_.back());
        std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
        for (int choice = 0; choice < problem.alternatives(); ++choice)
            for (const int need : problem.alternative(choice).needs)
                users_[next[static_cast<std::size_t>(need)]++] = choice;
    }

    std::span<const int> of(int goal) const {
        const auto g = static_cast<std::size_t>(goal);
        return {users_.data() + first_[g], first_[g + 1] - first_[g]};
    }

private:
    std::vector<std::size_t> first_;  // users_[first_[g]..first_[g + 1]] are those of goal g
    std::vector<int> users_;
};

}  // namespace cairn::search
