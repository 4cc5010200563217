#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/presolve.hpp"
#include "selection/search/region.hpp"

#include <cstddef>
#include <vector>

/// Chain search: the order of goals is cut into regions, equal regions are solved once, and their solutions are
/// combined.
namespace cairn::search {

/// Cuts of the order of goals: the positions of minimum cut width (taken over the middle half), never inside a strongly
/// connected component, and at least four goals apart. The first is 0 and the last the number of goals; without `share`
/// there are no others.
std::vector<int> cuts_of(const SearchProblem& problem, const std::vector<int>& sccs, bool share);

struct ChainResult {
    PathSet paths = PathDag::none;
    std::size_t solved = 0;  ///< regions that differ
    std::size_t work = 0;    ///< pending goals in all states joined at borders, plus a constant for each state
};

/// All paths through the regions between the cuts, from the highest to the lowest. With `only_cheapest` they are
/// followed from border to border. Otherwise segments of the chain between borders with few states are joined pairwise,
/// and their products likewise, so that a path is assembled in logarithmically many steps. Incomplete on a stop.
ChainResult paths_of_chain(const PresolvedProblem& presolved, PathDag& dag, SearchLimits& limits,
                           const std::vector<int>& cuts, bool only_cheapest);

}  // namespace cairn::search
