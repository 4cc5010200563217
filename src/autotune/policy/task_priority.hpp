#pragma once

#include "autotune/policy/tuning_tasks.hpp"

#include <cstddef>
#include <vector>

/// Orders measurements by their value, for when there is time for only a few.
namespace cairn::autotune {

/// Moves to the front, in a stable order, the tasks whose first call takes at least a hundredth of the time of its
/// bucket under `plan`, and than which another call may be faster. Decides by `estimates` alone, not by measured times,
/// so that a second tune selects the same tasks. Returns their number.
std::size_t uncertain_costly_first(std::vector<TuningTask>& all, std::span<const selection::Bucket> buckets,
                                   const selection::Selections& plan, const selection::CostModel& estimates);

}  // namespace cairn::autotune
