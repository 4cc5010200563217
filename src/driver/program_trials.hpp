#pragma once

#include "driver/stages.hpp"

#include <vector>

/// What is chosen by sums of kernel times, run whole beside its rivals (autotune/policy/program_trials.hpp).
namespace cairn::driver {

/// Puts whoever is the fastest as a whole in the place of the covers chosen, as far as the database knows it or, where
/// a compile may measure, within so many seconds. Returns the duels; one of what the database knows. Not beside a
/// memory limit: what rivals need is not looked at.
std::vector<ProgramTrial> apply_program_trials(const Stages& stages, std::vector<PreparedBucket>& buckets,
                                               selection::Selections& covers, const Context& context,
                                               const CompileOptions& options, const selection::Options& select_options,
                                               double seconds);

}  // namespace cairn::driver
