#pragma once

#include <algorithm>
#include <chrono>

namespace cairn::autotune {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double max_seconds = 1e8;  ///< upper limit of what is added to a time point

/// The time point `seconds` from now; now if they are negative.
inline Clock::time_point time_point_after(double seconds) {
    const std::chrono::duration<double> duration(std::clamp(seconds, 0.0, max_seconds));
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(duration);
}

}  // namespace cairn::autotune
