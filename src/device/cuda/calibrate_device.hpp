#pragma once

#include "device/backend.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace cairn::device::cuda {

/// What a calibration has to know about a device, and what it works with.
struct CalibratedDevice {
    Backend& backend;
    std::function<std::unique_ptr<Memory>(std::size_t bytes)> reserve;
    int multiprocessors = 1;
    std::int64_t cache_bytes = 0;  ///< of its L2
    bool has_tensor_cores = false;
    std::function<double()> clock;  ///< of the host, in seconds
};

/// Backend::calibrate of a CUDA device. What runs on the device is timed by events, as Backend::time does; launches and
/// copies, in which the host takes part, by the host's clock.
std::optional<DeviceCalibration> calibrate_device(const CalibratedDevice& device, double seconds,
                                                  const std::stop_token& stop);

}  // namespace cairn::device::cuda
