#pragma once

#include "autotune/policy/tuning_tasks.hpp"

#include <set>
#include <span>
#include <string>
#include <vector>

/// Selects the kernel settings to measure once the best kernels are known.
namespace cairn::autotune {

/// Tasks for the chosen candidates whose kernels have unmeasured settings at some sizes. The first call of a task is
/// the first setting, measured or not; the unmeasured ones follow. Settings in `tried` are left out.
std::vector<TuningTask> unknown_settings(std::span<const selection::Bucket> buckets,
                                         const selection::Selections& selections, const selection::CostModel& costs,
                                         const std::set<std::string>& tried);

/// The settings that may be faster than the known time, and the first one again: small differences show only side by
/// side. Empty if no setting may be faster.
CandidateSet candidates_of_settings(const TuningTask& settings, const selection::CostModel& costs);

}  // namespace cairn::autotune
