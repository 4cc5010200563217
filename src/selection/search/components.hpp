#pragma once

#include "selection/search/path_dag.hpp"
#include "selection/search/presolve.hpp"
#include "selection/search/region.hpp"

#include <optional>
#include <vector>

/// AND decomposition of the search: pending goals that no lower goal connects are independent problems.
namespace cairn::search {

/// All paths from a state on:
///
///     paths(D and E) = paths(D) * paths(E)   if nothing that D may depend on is connected with anything that E may
///                                            depend on
///
/// so that a tree of goals takes one component for each goal, however wide it is. Empty if it would take more
/// components than the state limit or more work than the size of the problem allows, or on a stop.
std::optional<PathSet> paths_by_components(const PresolvedProblem& presolved, PathDag& dag, SearchLimits& limits);

}  // namespace cairn::search
