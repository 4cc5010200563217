#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/presolve.hpp"
#include "selection/search/region.hpp"

#include <optional>
#include <vector>

/// The search where pending goals fall apart: of goals that no lower goal connects each part is a problem of its own.
namespace cairn::search {

/// All paths from the goals of a state on:
///
///     paths(D and E) = paths(D) * paths(E)   where nothing that D rests on, in whatever way, is connected with what E
///                                            rests on
///
/// so that a tree of goals takes one part a goal, however wide it is. Nothing where it would take more parts than the
/// limit allows, or more work than the size of the problem does, or on a stop.
std::optional<PathSet> paths_by_components(const PresolvedProblem& presolved, PathDag& dag, SearchLimits& limits);

}  // namespace cairn::search
