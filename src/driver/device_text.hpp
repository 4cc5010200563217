#pragma once

#include "cairn/types.hpp"

#include <string>

namespace cairn::driver {

/// ` on cuda`; empty for the CPU.
inline std::string device_text(Device device) { return device == Device::cpu ? "" : " on " + to_string(device); }

}  // namespace cairn::driver
