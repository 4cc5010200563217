#pragma once

#include "autotune/measurement/calibrate.hpp"
#include "cairn/timing_db.hpp"

#include <optional>
#include <stop_token>

/// What a machine can do, kept beside the times of kernels: each figure as the time that something takes.
namespace cairn::autotune {

/// Adds the figures of a calibration to a database; those of a brief one are of coarse quality.
void record_calibration(TimingDb& timings, const TimingEnvironment& environment, const TimingPolicy& policy,
                        const CalibrationRun& calibrated);

/// The figures that a database holds; none unless all are there and possible.
std::optional<CalibrationRun> stored_calibration(const TimingDb& timings, const TimingEnvironment& environment,
                                                 const TimingPolicy& policy);

/// Those figures; else, or where only brief ones are known and there are `thorough_seconds`, what a calibration in so
/// many seconds says now, which the database keeps. With 0 nothing is measured. Throws Cancelled.
std::optional<Calibration> calibration_of(const Context& context, const TimingEnvironment& environment,
                                          const TimingPolicy& policy, double seconds, const std::stop_token& stop = {});

}  // namespace cairn::autotune
