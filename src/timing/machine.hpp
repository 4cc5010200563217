#pragma once

#include "cairn/timing_db.hpp"
#include "cairn/tuning.hpp"

#include <optional>

/// What a machine can do, kept beside the times of kernels: each figure as the time that something takes.
namespace cairn::inline v0::timing {

/// Adds the figures of a calibration to a database.
void record_machine(TimingDb& timings, const TimingEnvironment& environment, const TimingPolicy& policy,
                    const Calibration& machine);

/// The figures that a database holds; none unless all are there and possible.
std::optional<Calibration> known_machine(const TimingDb& timings, const TimingEnvironment& environment,
                                         const TimingPolicy& policy);

/// Those figures; else, if it may measure, what calibrate() says now, which the database keeps.
std::optional<Calibration> machine_of(const Context& context, const TimingEnvironment& environment,
                                      const TimingPolicy& policy, bool may_measure);

}  // namespace cairn::inline v0::timing
