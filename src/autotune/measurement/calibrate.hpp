#pragma once

#include "cairn/tuning.hpp"
#include "device/context_impl.hpp"

#include <stop_token>

namespace cairn::autotune {

constexpr double thorough_seconds = 0.5;  ///< about what a thorough calibration takes

struct CalibrationRun {
    Calibration machine;
    bool is_thorough = false;  ///< else few blocks, and less memory than caches may hold
};

/// calibrate() in about so many seconds: below `thorough_seconds` a brief one, which takes a tenth of a second at least
/// where a machine is slow to give memory. Throws Cancelled.
CalibrationRun calibrate_within(Context::Impl& impl, double seconds, const std::stop_token& stop);

}  // namespace cairn::autotune
