#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/presolve.hpp"
#include "selection/search/region.hpp"
#include "selection/search/repeated_blocks.hpp"

#include <cstddef>
#include <vector>

/// The search along the order of goals: it is cut into regions, equal ones are solved once, and what is found in them
/// is put together.
namespace cairn::search {

/// The least goals of a region, unless blocks are to be cut in the same places.
inline constexpr int default_region_size = 4;

/// Where to cut the order of goals: at the places that fewest goals are needed across, of those in the middle half, and
/// never through a circle; but no closer than so many goals. First comes 0, last the number of goals; without `share`
/// nothing else.
std::vector<int> cuts_of(const SearchProblem& problem, const std::vector<int>& sccs, bool share,
                         int min_region_size = default_region_size);

struct ChainResult {
    PathSet paths = PathDag::none;
    std::size_t solved = 0;  ///< regions that differ
    std::size_t work = 0;    ///< goals pending in all states put together at borders, and some for each state
    bool repeated = true;    ///< false: no block was found that may be crossed more often than it is there
};

/// All paths through the regions between the cuts, from the highest to the lowest. With `only_cheapest` they are
/// followed from border to border. Otherwise stretches of the chain between borders with few states are joined two by
/// two, and what comes of it likewise: so a path is put together in as many steps as the logarithm of their number.
/// Incomplete on a stop.
///
/// Where `repeat` has blocks that the problem given to reduce() has not, they are crossed as the one they are equal to:
/// 2^n blocks by n products of the ways through it. Paths then have choices numbered in full.
ChainResult paths_of_chain(const PresolvedProblem& presolved, PathDag& dag, SearchLimits& limits,
                           const std::vector<int>& cuts, bool only_cheapest, const RepeatedBlocks& repeat);

}  // namespace cairn::search
