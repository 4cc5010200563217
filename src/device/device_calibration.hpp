#pragma once

#include "cairn/units.hpp"

#include <array>

namespace cairn::device {

/// A calibration that may take this many seconds is thorough; a shorter one is brief: fewer and shorter blocks.
inline constexpr double thorough_calibration_seconds = 0.5;

/// Measured rates of a device other than the CPU. Medians of several blocks.
struct DeviceCalibration {
    double bandwidth = 0;                          ///< bytes/s read from its own memory
    double bandwidth_bytes = 0;                    ///< working set of that measurement
    double cache_bandwidth = 0;                    ///< bytes/s read from its cache by all multiprocessors
    std::array<double, arithmetic_count> flops{};  ///< operations/s by Arithmetic, a multiply-add is two; 0: no unit
    double launch_seconds = 0;                     ///< what one more launch in a program takes, as the host sees it
    double upload_bandwidth = 0;                   ///< bytes/s copied to the device, by Memory::write
    double download_bandwidth = 0;                 ///< bytes/s copied from the device, by Memory::read
    double link_seconds = 0;  ///< a copy of few bytes in either direction, with the wait for its end
    double noise = 0;         ///< relative standard deviation of blocks of equal work
    /// False for a brief one, for blocks left out because time ran short, and for a working set that the cache may
    /// hold.
    bool is_thorough = false;
};

}  // namespace cairn::device
