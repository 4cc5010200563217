#pragma once

#include "cairn/timing_db.hpp"

#include <cstdint>
#include <vector>

namespace cairn::autotune {

/// The least value that at least the share `q` of a sorted list does not exceed, to the nearest rank.
///
///     {1, 2, 3, 4}, 0.5  ->  3
double quantile(const std::vector<double>& sorted, double q);

/// What blocks of `inner` runs say of one run; `times` are seconds of one run in each block, in any order, at least
/// one.
Timing summary_of(std::vector<double> times, std::int64_t inner);

}  // namespace cairn::autotune
