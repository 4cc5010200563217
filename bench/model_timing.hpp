#pragma once

#include "bench/busy_process.hpp"
#include "bench/model_workload.hpp"

#include <vector>

namespace bench {

/// How long a workload is timed.
struct IterationLimits {
    std::int64_t iterations = 20;  ///< minimum number of timed iterations
    double seconds = 0;            ///< more iterations are timed until their total reaches this
};

/// Nanoseconds of each timed iteration, after a warm-up.
std::vector<double> time_iterations(BenchmarkedModel& subject, const IterationLimits& turns);

/// Nanoseconds of iterations timed alternately alone and beside a busy process, in blocks of one to five iterations of
/// each.
struct PairedTimes {
    std::vector<double> alone, beside;
};
PairedTimes time_under_load(BenchmarkedModel& subject, const IterationLimits& turns, BusyProcess& busy);

/// Median of the values (the upper one of an even number). Throws cairn::Error(argument) if there are none.
double median(std::vector<double> values);

}  // namespace bench
