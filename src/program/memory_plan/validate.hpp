#pragma once

#include "program/memory_plan/packing_problem.hpp"

#include <string>

namespace cairn::memory_plan {

/// Validates a plan independently of pack(), with no shared code: returns the first fault in words, empty if there is
/// none. Checks
///
/// * form: as many entries as buffers and samples, indices in range, `order` a permutation with each buffer after those
///   below it;
/// * every size: any two buffers live at the same instruction are ordered by the transitive closure of `below`;
/// * every sample: offsets are what the relation gives, aligned, disjoint at every instruction and inside `height`,
///   which is the highest end; `lower_bound` is right and not undercut.
///
///     "buffers 3 and 7 are live together at instruction 12 but neither is below the other"
std::string validate(const PackingProblem& problem, const PackingSolution& solution);

}  // namespace cairn::memory_plan
