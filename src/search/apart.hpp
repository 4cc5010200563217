#pragma once

#include "search/explore.hpp"

#include <cmath>
#include <span>

namespace cairn::search {

/// A path that costs more than the bound by less than this part of it is as good as one of the cheapest.
inline constexpr double as_good = 1e-4;

inline bool is_as_good(double cost, double bound) { return cost - bound <= as_good * std::abs(bound); }

/// The sides of a problem (sides.hpp) each searched for itself: exact where the path is proved to be one of the
/// cheapest; `cut` where a side cannot be searched exactly, or no path was found.
Exploration explore_apart(const Problem& problem, std::span<const int> side_of, const Options& options);

}  // namespace cairn::search
