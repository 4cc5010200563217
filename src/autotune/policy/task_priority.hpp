#pragma once

#include "autotune/policy/tuning_tasks.hpp"

#include <cstddef>
#include <vector>

/// Which measurements are worth most where there is time for few.
namespace cairn::autotune {

/// Of unknown rivals in their order those first of a call that takes a hundredth or more of what its bucket takes by
/// `plan`, and than which another may be faster, as estimates say: what was measured so far makes no difference, so
/// that a second tune asks for the same. How many these are.
std::size_t uncertain_costly_first(std::vector<TuningTask>& all, std::span<const selection::Bucket> buckets,
                                   const selection::Selections& plan, const selection::CostModel& estimates);

}  // namespace cairn::autotune
