#pragma once

#include "bench/busy_process.hpp"
#include "bench/model_workload.hpp"

#include <vector>

namespace bench {

/// How often a work is run, and what is told of it.
struct IterationLimits {
    std::int64_t iterations = 20;  ///< timed, at least
    double seconds = 0;            ///< and further ones as long as those have not taken so long
};

/// Nanoseconds of each iteration, after untimed ones.
std::vector<double> time_iterations(BenchmarkedModel& subject, const IterationLimits& turns);

/// The same in turns, alone and beside a busy process. Each turn is of a few iterations, and of equally many on both
/// sides.
struct PairedTimes {
    std::vector<double> alone, beside;
};
PairedTimes time_beside_load(BenchmarkedModel& subject, const IterationLimits& turns, BusyProcess& busy);

/// Throws cairn::Error(argument) for none.
double median(std::vector<double> values);

}  // namespace bench
