#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/repeated_blocks.hpp"
#include "selection/search/search_problem.hpp"

#include <cstddef>
#include <limits>
#include <stop_token>

namespace cairn::search {

struct Options {
    bool only_cheapest = true;            ///< one of the cheapest paths is enough; else all paths are found
    std::size_t state_limit = 2'000'000;  ///< states looked at before it gives up exactness
    bool share_regions = true;            ///< make equal regions smaller, and solve them, once
    bool only_exact = false;              ///< end where it can not be exact
    RepeatedBlocks repeat = {};           ///< blocks that the problem has not; choices are then numbered in full
    std::stop_token stop = {};
};

enum class Status {
    found,
    unreachable,  ///< a root cannot be reached
    impossible,   ///< each root can be reached, but not all of them at once
    stopped,
    too_large,  ///< an exact search would be too much work, and no other was asked for
};

struct Exploration {
    Status status = Status::found;
    int unreachable = -1;  ///< that root
    PathDag dag;
    PathSet paths = PathDag::none;  ///< in it
    bool exact = true;  ///< false: the limit was reached; paths are missing, and the cheapest may be among them
    double low =
        -std::numeric_limits<double>::infinity();  ///< no path costs less, where that is known though not exact
    std::size_t states = 0;                        ///< looked at
    std::size_t regions = 0, regions_solved = 0;   ///< pieces the problem was cut into, and how many of them differ
    std::size_t work = 0;                          ///< goals looked at before the search, to make it smaller
    std::size_t border_work = 0;                   ///< goals pending in all states put together between pieces
};

/// What is said where none is looked for.
Exploration without_paths(Status status);

/// The paths of a problem:
///
///     paths({}) = { nothing }
///     paths(D)  = paths(D - g)                                             where g = max D is provided already
///               = sum over choices a of g: a * paths(D - g + needs(a) + provides(a))
///
/// Needs rank below g, so each goal is decided once and paid once, and two different ways down are two different paths.
/// Goals that one other goal alone rests on are decided beforehand. The order of goals is cut where few of them cross;
/// equal pieces (layers of a transformer) are solved once and chained. Where nothing can be cut, pending goals are
/// taken apart into those that nothing lower connects. The problem must be without fault().
Exploration explore(const SearchProblem& problem, const Options& options = {});

}  // namespace cairn::search
