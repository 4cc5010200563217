#pragma once

#include "bench/model_workload.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// All instructions of an iteration that run the same kernel on the same problem.
struct InstructionGroup {
    std::string kernel, problem;
    int count = 0;
    double seconds = 0;  ///< total per iteration; median of the profiled iterations
    double idle = 0;     ///< fraction of the threads' time in which they wait for one another
};

/// Groups the instructions of profiled iterations by kernel and problem, the longest total first.
std::vector<InstructionGroup> group_by_kernel(std::span<const std::vector<cairn::InstructionProfile>> iterations);

/// Profiles seven iterations after two warm-up iterations, or `most` after as many.
std::vector<InstructionGroup> profile_of(BenchmarkedModel& subject, std::int64_t most);

}  // namespace bench
