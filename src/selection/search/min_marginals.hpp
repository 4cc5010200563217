#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/search_problem.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

/// What it costs to want something else.
namespace cairn::search {

/// What is counted of each choice besides its cost.
using Amounts = std::array<double, 5>;

/// The cheapest path that has an alternative.
struct MinMarginal {
    double extra_cost = 0;  ///< its cost, less that of the path asked for
    Amounts amounts = {};   ///< the sums of what is counted besides
};

/// Of each alternative of a problem the cheapest path that has it; nothing where no path of the set has it. The set is
/// one of all paths (not of the cheapest alone), `path` need not be in it. Costs are added exactly and the difference
/// is rounded once: what costs the same differs by 0. `amounts` has a row for each alternative, or none; of paths that
/// cost the same the sums are those of one of them. Alternatives that stand for one another in equal layers have equal
/// rows.
///
///     goal 1: 5 (0) or 9 ()   goal 0: 2 ()   root 1   path {1: 5, 0: 2}   ->   0, 2, 0
///
/// (Inside and outside costs, as of a parser's chart: what a set's cheapest path costs, and what the cheapest of all
/// that completes it to a path of the whole.)
std::vector<std::optional<MinMarginal>> min_marginals(const SearchProblem& problem, const PathDag& dag, PathSet set,
                                                      std::span<const int> path, std::span<const Amounts> amounts = {});

}  // namespace cairn::search
