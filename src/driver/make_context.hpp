#pragma once

#include "device/context_impl.hpp"

#include <vector>

namespace cairn::driver {

/// Creates a Context that has these devices beside the CPU, in place of ContextOptions::devices. Throws as the
/// constructor of Context does.
Context make_context(ContextOptions options, std::vector<DeviceBackend> devices);

}  // namespace cairn::driver
