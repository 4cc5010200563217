#pragma once

#include "device/context_impl.hpp"

#include <vector>

namespace cairn::driver {

/// Opens the devices of ContextOptions::devices other than the CPU, with their kernels. Opens no library if there are
/// none. Throws Error(argument) for a device that is named twice, Error(unsupported) with the reason for one that
/// cannot be used.
std::vector<DeviceBackend> open_devices(const ContextOptions& options);

}  // namespace cairn::driver
