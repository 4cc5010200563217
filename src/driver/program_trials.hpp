#pragma once

#include "driver/stages.hpp"

#include <vector>

/// Trials of the programs that sums of kernel times choose against challengers (autotune/policy/program_trials.hpp).
namespace cairn::driver {

/// Replaces the selected covers with those that are the fastest as whole programs, according to the timing database or,
/// if a compile may measure, to trials of at most `seconds`. Returns the trials; a recorded result as a single trial.
/// Does nothing with a memory limit, because the memory of challengers is not checked.
std::vector<ProgramTrial> apply_program_trials(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                               selection::Selections& covers, const Context& context,
                                               const CompileOptions& options, const selection::Options& select_options,
                                               double seconds);

}  // namespace cairn::driver
