#pragma once

#include "select/frontier.hpp"

#include <optional>
#include <utility>
#include <vector>

/// The exact search where pending goals fall apart: of goals that no lower goal connects each part is a problem of its
/// own, and their costs add up.
namespace cairn::inline v0::select {

struct PartsResult {
    double cost = 0;                           ///< infinite where no set of choices reaches all roots at once
    std::vector<std::pair<int, int>> choices;  ///< (goal, alternative)
    std::size_t states = 0;                    ///< parts looked at
};

/// The cheapest choices: f as of search(), where
///
///     f(D + E) = f(D) + f(E)   where nothing that D rests on, in whatever way, is connected with what E rests on
///
/// so that a tree of goals takes one part a goal, however wide it is. Circles count. Nothing where it would take more
/// parts than `options` allow, or more work than the size of the problem does; throws Cancelled on a stop.
std::optional<PartsResult> search_parts(const SearchProblem& problem, const SearchOptions& options);

}  // namespace cairn::inline v0::select
