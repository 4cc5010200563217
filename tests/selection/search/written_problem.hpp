#pragma once

#include "selection/search/search_problem.hpp"
#include "selection/search/search_state.hpp"

#include <initializer_list>
#include <vector>

namespace cairn::search::test {

struct WrittenAlternative {
    double cost = 0;
    std::vector<int> needs = {}, provides = {};
};
using WrittenGoals = std::vector<std::vector<WrittenAlternative>>;  // of each goal

/// The problem with these goals.
inline SearchProblem written(const WrittenGoals& goals, const std::vector<int>& roots) {
    SearchProblem problem;
    for (const std::vector<WrittenAlternative>& alternatives : goals) {
        problem.add_goal();
        for (const WrittenAlternative& alternative : alternatives)
            problem.add_alternative(alternative.cost, alternative.needs, alternative.provides);
    }
    for (const int root : roots) problem.add_root(root);
    return problem;
}

inline State state(std::initializer_list<char32_t> codes) { return State(codes); }

/// No goal is in an SCC.
inline std::vector<int> no_sccs(const SearchProblem& problem) {
    return std::vector<int>(static_cast<std::size_t>(problem.goals()), -1);
}

}  // namespace cairn::search::test
