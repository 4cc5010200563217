#pragma once

#include "cairn/types.hpp"

#include <cstdint>
#include <optional>

namespace cairn::types {

/// A device as the integer attribute `device` of `copy_to`: 0 for `cpu`, 1 for `cuda`, 257 for `cuda:1`.
inline std::int64_t device_code(Device device) noexcept {
    return static_cast<std::int64_t>(device.kind) + (std::int64_t{device.index} << 8);
}

/// The inverse of device_code; empty for a number that is no device's.
inline std::optional<Device> device_of_code(std::int64_t code) noexcept {
    const std::int64_t kind = code & 0xff, index = code >> 8;
    if (code < 0 || kind > static_cast<std::int64_t>(DeviceKind::cuda) || index > 0xff) return std::nullopt;
    const Device device{static_cast<DeviceKind>(kind), static_cast<std::uint8_t>(index)};
    return device.kind == DeviceKind::cpu && index != 0 ? std::nullopt : std::optional(device);
}

}  // namespace cairn::types
