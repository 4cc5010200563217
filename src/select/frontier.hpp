#pragma once

#include "types/short_list.hpp"

#include <cstdint>
#include <stop_token>
#include <vector>

/// The exact search for the cheapest consistent set of choices in an acyclic memo: a dynamic program over frontiers of
/// pending goals. Pure: it knows no graph, no kernel and no clock.
namespace cairn::inline v0::select {

/// Numbers of goals: mostly few.
using Goals = types::ShortList<int, 4>;

/// One way to reach a goal.
struct Alternative {
    double cost = 0;
    Goals needs;     ///< goals it rests on, all lower than the goal
    Goals provides;  ///< further goals it reaches at the same time, all lower than the goal
};

/// Goals are numbered so that every alternative of a goal needs lower goals only; the cost of a set of choices is the
/// sum over the alternatives chosen, each counted once however many goals rest on it.
struct SearchProblem {
    std::vector<std::vector<Alternative>> goals;  ///< alternatives of each goal; none: it cannot be reached
    std::vector<int> roots;                       ///< goals that must be reached
};

struct SearchOptions {
    std::size_t state_limit = 2'000'000;  ///< frontiers looked at before it gives up exactness
    bool share_regions = true;            ///< solve equal regions once
    std::stop_token stop = {};            ///< throws Cancelled
};

struct SearchResult {
    std::vector<int> choice;  ///< per goal: the alternative chosen, -1 where the goal is not made for its own sake
    double cost = 0;
    std::size_t states = 0;  ///< frontiers looked at
    std::size_t regions = 0,
                regions_solved = 0;  ///< pieces the problem was cut into, and how many of them were different
    bool exact = true;               ///< false: the limit was reached and the rest was chosen greedily
};

/// The cheapest choices:
///
///     f({}) = 0
///     f(D)  = f(D - g)                                         where g = max D is provided already
///           = min over alternatives a of g: cost(a) + f(D - g + needs(a) + provides(a))
///
/// Needs rank below g, so each goal is decided once and paid once. Choices that rest on each other in a circle (each of
/// two tiles needs what the other provides) do not count. The order of goals is cut where few of them cross; equal
/// pieces (transformer layers) are solved once and chained. Where nothing can be cut, pending goals are taken apart
/// into those that nothing lower connects. Throws Error(unsupported) naming a goal that cannot be reached, or where no
/// set of choices reaches all roots at once.
SearchResult search(const SearchProblem& problem, const SearchOptions& options = {});

}  // namespace cairn::inline v0::select
