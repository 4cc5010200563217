#pragma once

#include "selection/search/explore.hpp"

#include <cmath>
#include <span>

namespace cairn::search {

/// Relative optimality gap: a path this close to the lower bound counts as a cheapest one.
inline constexpr double relative_gap = 1e-4;

inline bool is_within_relative_gap(double cost, double bound) { return cost - bound <= relative_gap * std::abs(bound); }

/// Lagrangian decomposition (decomposition.hpp): `exact` if the path is proved to be a cheapest one; `too_large` if a
/// subproblem cannot be searched exactly, or no path was found.
Exploration explore_lagrangian(const SearchProblem& problem, std::span<const int> subproblem_of,
                               const Options& options);

}  // namespace cairn::search
