#pragma once

#include "bench/model_workload.hpp"

#include <span>
#include <string>
#include <vector>

namespace bench {

/// The instructions of an iteration that run one kernel on one problem.
struct InstructionGroup {
    std::string kernel, problem;
    int count = 0;
    double seconds = 0;  ///< all of them together; the middle one of the profiled iterations
    double idle = 0;     ///< part of the time of all threads in which one waits for another
};

/// What took longest first.
std::vector<InstructionGroup> group_by_kernel(std::span<const std::vector<cairn::InstructionProfile>> iterations);

/// Of some iterations, after untimed ones.
std::vector<InstructionGroup> profile_of(BenchmarkedModel& subject);

}  // namespace bench
