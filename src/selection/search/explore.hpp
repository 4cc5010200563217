#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/search_problem.hpp"

#include <cstddef>
#include <limits>
#include <stop_token>

namespace cairn::search {

struct Options {
    bool only_cheapest = true;  ///< one cheapest path is enough; otherwise all paths are found
    /// Otherwise paths that cost more than the cheapest one by more than this may be left out.
    double gap = std::numeric_limits<double>::infinity();
    std::size_t state_limit = 2'000'000;  ///< states visited before exactness is given up
    bool share_regions = true;            ///< presolve and solve equal regions once
    bool require_exact = false;           ///< stop as soon as the search cannot be exact
    std::stop_token stop = {};
};

enum class Status {
    found,
    unreachable,  ///< a root cannot be reached
    impossible,   ///< each root can be reached, but not all of them together
    stopped,
    too_large,  ///< an exact search would be too much work, and no other was requested
};

struct Exploration {
    Status status = Status::found;
    int unreachable = -1;  ///< the root that cannot be reached
    PathDag dag;
    PathSet paths = PathDag::none;  ///< a set of `dag`
    bool exact = true;              ///< false: a limit was reached; paths are missing, possibly the cheapest
    double low = -std::numeric_limits<double>::infinity();  ///< lower bound of the cost, if known though not exact
    std::size_t states = 0;                                 ///< visited
    std::size_t regions = 0, regions_solved = 0;            ///< regions of the problem, and how many of them differ
    std::size_t work = 0;                                   ///< goals visited in presolve
    std::size_t border_work = 0;                            ///< pending goals in all states joined at borders
};

/// An exploration without paths.
Exploration without_paths(Status status);

/// Finds the paths of a problem:
///
///     paths({}) = { nothing }
///     paths(D)  = paths(D - g)                                             where g = max D is provided already
///               = sum over choices a of g: a * paths(D - g + needs(a) + provides(a))
///
/// Needs rank below g, so each goal is decided and paid once, and two different derivations are two different paths.
/// Goals that only one other goal depends on are decided in presolve. The order of goals is cut where few goals are
/// live; equal regions (layers of a transformer) are solved once and chained. If there is no cut, pending goals are
/// split into independent components. Precondition: the problem has no fault().
Exploration explore(const SearchProblem& problem, const Options& options = {});

}  // namespace cairn::search
