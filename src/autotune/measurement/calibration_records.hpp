#pragma once

#include "autotune/measurement/calibrate.hpp"
#include "cairn/timing_db.hpp"
#include "device/device_calibration.hpp"

#include <optional>
#include <stop_token>

/// Stores calibrations beside the times of kernels: each value as the time that something takes.
namespace cairn::autotune {

/// Adds a calibration to a database; the rows of a brief one have coarse quality.
void record_calibration(TimingDb& timings, const TimingEnvironment& environment, const TimingPolicy& policy,
                        const CalibrationRun& calibrated);

/// The calibration that a database holds; nothing unless all its values are there and valid.
std::optional<CalibrationRun> stored_calibration(const TimingDb& timings, const TimingEnvironment& environment,
                                                 const TimingPolicy& policy);

/// The stored calibration. If there is none, or only a brief one and at least `thorough_seconds` are allowed,
/// calibrates now in about `seconds` and stores the result. With 0 nothing is measured. Throws Cancelled.
std::optional<Calibration> calibration_of(const Context& context, const TimingEnvironment& environment,
                                          const TimingPolicy& policy, double seconds, const std::stop_token& stop = {});

/// Where the calibration of a device other than the CPU is stored. What belongs to its link has an environment of its
/// own (link_environment_of).
struct DeviceRecords {
    TimingEnvironment device, link;
    TimingPolicy policy;
};
/// Those of a device of a Context.
DeviceRecords records_of(const Context::Impl& context, Device device);

/// As above, for a device other than the CPU.
void record_calibration(TimingDb& timings, const DeviceRecords& records, const device::DeviceCalibration& calibrated);
std::optional<device::DeviceCalibration> stored_calibration(const TimingDb& timings, const DeviceRecords& records);

}  // namespace cairn::autotune
