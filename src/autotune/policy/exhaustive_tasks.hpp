#pragma once

#include "autotune/policy/tuning_tasks.hpp"

#include <stop_token>
#include <vector>

/// Tuning tasks for everything that can be measured of a graph.
namespace cairn::autotune {

/// All alternatives of all goals: the calls of every kernel that accepts, with operands in every layout, copies and
/// packings included, at each representative size. Each call appears once, together with those that compute the same
/// value at the same sizes. Measured calls are included (CandidateCall::time is false). Tasks that may take longest
/// come first. Throws Cancelled.
std::vector<TuningTask> exhaustive_tasks(std::span<const selection::Bucket> buckets, const selection::CostModel& costs,
                                         const std::stop_token& stop);

/// All calls of a task whose time is unknown, by ascending estimate: each is to be run.
CandidateSet all_candidates_of(const TuningTask& task, const selection::CostModel& costs);

}  // namespace cairn::autotune
