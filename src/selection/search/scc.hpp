#pragma once

#include "selection/search/search_problem.hpp"

#include <vector>

/// Where a path might rest on itself.
namespace cairn::search {

/// Of each goal the number of the circle that it may come into, or -1. Goal 3 provides 0 and needs 2, and 2 needs 0:
/// all three may come into one. Most problems have no such goals: a tile that makes several values seldom needs what
/// rests on one of them.
///
/// (The strongly connected components, of two goals or more, where a goal leads to whatever is needed by an alternative
/// of it or by one that provides it. Tarjan, "Depth-first search and linear graph algorithms", 1972.)
std::vector<int> scc_of_goals(const SearchProblem& problem);

/// A goal of a circle among the given choices, at most one of each goal; -1 where there is none.
int find_cycle(const SearchProblem& problem, std::span<const int> choices);

}  // namespace cairn::search
