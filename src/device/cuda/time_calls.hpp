#pragma once

#include "device/backend.hpp"
#include "device/cuda/cuda_device.hpp"

#include <memory>
#include <optional>

namespace cairn::device::cuda {

/// Backend::time: seconds on the device between an event before the first call and one after the last. Calls of a
/// kernel are nodes of a graph, events included, if `graphs`: then a call costs what it costs in a program, and not
/// what its launch costs the host. Copies between host and device are submitted one by one, as in a program.
double time_calls(const std::shared_ptr<CudaDevice>& device, const TimedCalls& calls, bool graphs,
                  std::optional<Failure>& failure);

}  // namespace cairn::device::cuda
