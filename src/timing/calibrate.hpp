#pragma once

#include "cairn/tuning.hpp"
#include "device/context_parts.hpp"

#include <stop_token>

namespace cairn::inline v0::timing {

constexpr double thorough_seconds = 0.5;  ///< about what a thorough calibration takes

struct Calibrated {
    Calibration machine;
    bool is_thorough = false;  ///< else few blocks, and less memory than caches may hold
};

/// calibrate() in about so many seconds: below `thorough_seconds` a brief one, which takes a tenth of a second at least
/// where a machine is slow to give memory. Throws Cancelled.
Calibrated calibrate_within(Context::Parts& parts, double seconds, const std::stop_token& stop);

}  // namespace cairn::inline v0::timing
