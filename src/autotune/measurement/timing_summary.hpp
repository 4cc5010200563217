#pragma once

#include "cairn/timing_db.hpp"

#include <cstdint>
#include <vector>

namespace cairn::autotune {

/// Quantile `q` of a sorted list by the nearest rank: the element at round(q * (n - 1)).
///
///     {1, 2, 3, 4}, 0.5  ->  3
double quantile(const std::vector<double>& sorted, double q);

/// Timing of one run from blocks of `inner` runs. `times`: seconds of one run in each block, in any order, at least
/// one.
Timing summary_of(std::vector<double> times, std::int64_t inner);

}  // namespace cairn::autotune
