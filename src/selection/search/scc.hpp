#pragma once

#include "selection/search/search_problem.hpp"

#include <vector>

/// Strongly connected components: goals that might depend on one another.
namespace cairn::search {

/// For each goal the number of its SCC, or -1 if it has none of two goals or more. If goal 3 provides 0 and needs 2,
/// and 2 needs 0, then 0 and 2 are one SCC. Most problems have none: a match with several outputs seldom needs a value
/// that depends on one of them.
///
/// (A goal has an edge to each need of its alternatives and of those that provide it. Tarjan, "Depth-first search and
/// linear graph algorithms", 1972.)
std::vector<int> scc_of_goals(const SearchProblem& problem);

/// A goal on a dependence cycle of the given choices, at most one for each goal; -1 if there is none.
int find_cycle(const SearchProblem& problem, std::span<const int> choices);

}  // namespace cairn::search
