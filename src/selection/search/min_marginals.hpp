#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/search_problem.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

/// Min-marginals: the cost of the cheapest path that contains a given alternative.
namespace cairn::search {

/// Amounts of a choice that are summed beside its cost.
using Amounts = std::array<double, 5>;

/// The cheapest path with an alternative.
struct MinMarginal {
    double extra_cost = 0;  ///< its cost, less that of the given path
    Amounts amounts = {};   ///< the sums of the amounts
};

/// The min-marginal of each alternative of a problem; empty if no path of the set has it. The set must contain all
/// paths (not the cheapest alone); `path` need not be in it. Costs are added exactly and the difference is rounded
/// once: equal costs differ by 0. `amounts` has a row for each alternative, or is empty; of paths with equal costs the
/// sums are those of one of them. Alternatives that represent one another in equal layers must have equal rows.
///
///     goal 1: 5 (0) or 9 ()   goal 0: 2 ()   root 1   path {1: 5, 0: 2}   ->   0, 2, 0
///
/// (Inside and outside costs, as in chart parsing: the cost of a set's cheapest path, and of the cheapest completion to
/// a path of the whole.)
std::vector<std::optional<MinMarginal>> min_marginals(const SearchProblem& problem, const PathDag& dag, PathSet set,
                                                      std::span<const int> path, std::span<const Amounts> amounts = {});

}  // namespace cairn::search
