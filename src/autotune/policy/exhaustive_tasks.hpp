#pragma once

#include "autotune/policy/tuning_tasks.hpp"

#include <stop_token>
#include <vector>

/// All that can be measured of a graph.
namespace cairn::autotune {

/// Every way to reach every goal: the calls of each kernel that accepts, from operands in whatever form, of copies and
/// packings too, at each representative size; each call once, with those that make the same at the same sizes. What is
/// known is among them (CandidateCall::time is false). What may take longest comes first. Throws Cancelled.
std::vector<TuningTask> exhaustive_tasks(std::span<const selection::Bucket> buckets, const selection::CostModel& costs,
                                         const std::stop_token& stop);

/// All of these whose time is unknown, the likeliest first: each is to be run.
CandidateSet all_candidates_of(const TuningTask& task, const selection::CostModel& costs);

}  // namespace cairn::autotune
