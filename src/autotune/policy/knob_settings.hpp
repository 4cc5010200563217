#pragma once

#include "autotune/policy/tuning_tasks.hpp"

#include <set>
#include <span>
#include <string>
#include <vector>

/// Which settings of kernels are to be measured, once the best ways are known.
namespace cairn::autotune {

/// Of the chosen candidates those whose kernels have settings that nothing is known of at some sizes: the first one in
/// front, known or not, and those. None that was `tried` is among them.
std::vector<TuningTask> unknown_settings(std::span<const selection::Bucket> buckets,
                                         const selection::Selections& selections, const selection::CostModel& costs,
                                         const std::set<std::string>& tried);

/// Of these those that may be faster than what is known, and the first once more: small differences show side by side
/// only. Empty where none may be.
CandidateSet candidates_of_settings(const TuningTask& settings, const selection::CostModel& costs);

}  // namespace cairn::autotune
