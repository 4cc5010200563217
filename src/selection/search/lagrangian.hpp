#pragma once

#include "selection/search/explore.hpp"

#include <cmath>
#include <span>

namespace cairn::search {

/// A path that costs more than the bound by less than this part of it is as good as one of the cheapest.
inline constexpr double relative_gap = 1e-4;

inline bool is_within_relative_gap(double cost, double bound) { return cost - bound <= relative_gap * std::abs(bound); }

/// The sides of a problem (sides.hpp) each searched for itself: exact where the path is proved to be one of the
/// cheapest; `too_large` where a side cannot be searched exactly, or no path was found.
Exploration explore_lagrangian(const SearchProblem& problem, std::span<const int> subproblem_of,
                               const Options& options);

}  // namespace cairn::search
