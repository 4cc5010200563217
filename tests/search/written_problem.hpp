#pragma once

#include "search/pending.hpp"
#include "search/problem.hpp"

#include <initializer_list>
#include <vector>

namespace cairn::search::test {

struct Way {
    double cost = 0;
    std::vector<int> needs = {}, provides = {};
};
using Ways = std::vector<std::vector<Way>>;  // of each goal

/// The problem with these goals.
inline Problem written(const Ways& goals, const std::vector<int>& roots) {
    Problem problem;
    for (const std::vector<Way>& ways : goals) {
        problem.add_goal();
        for (const Way& way : ways) problem.add_alternative(way.cost, way.needs, way.provides);
    }
    for (const int root : roots) problem.add_root(root);
    return problem;
}

inline State state(std::initializer_list<char32_t> codes) { return State(codes); }

/// Nothing to beware of.
inline std::vector<int> no_circles(const Problem& problem) {
    return std::vector<int>(static_cast<std::size_t>(problem.goals()), -1);
}

}  // namespace cairn::search::test
