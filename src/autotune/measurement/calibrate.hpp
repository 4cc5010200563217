#pragma once

#include "cairn/tuning.hpp"
#include "device/context_impl.hpp"

#include <stop_token>

namespace cairn::autotune {

/// About what a thorough calibration takes.
constexpr double thorough_seconds = device::thorough_calibration_seconds;

struct CalibrationRun {
    Calibration machine;
    bool is_thorough = false;  ///< false: few blocks, and less memory than caches may hold
};

/// Runs calibrate() in about `seconds`: a brief one below `thorough_seconds`, which takes at least a tenth of a second
/// if the machine is slow to provide memory. Throws Cancelled.
CalibrationRun calibrate_within(Context::Impl& impl, double seconds, const std::stop_token& stop);

}  // namespace cairn::autotune
