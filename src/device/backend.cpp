#include "device/backend.hpp"

namespace cairn::device {

// Each interface has one function that is not inline: its vtable is then emitted here alone.
Memory::~Memory() = default;
CommandBuffer::~CommandBuffer() = default;
CallArguments::~CallArguments() = default;
Backend::~Backend() = default;
bool Backend::is_device_memory(const void*) const noexcept { return false; }
HostThreads::~HostThreads() = default;
KernelCache::~KernelCache() = default;

std::shared_ptr<const KernelBinary> Backend::binary(const void*) const { return nullptr; }

std::optional<DeviceCalibration> Backend::calibrate(double, const std::stop_token&) { return std::nullopt; }
DeviceInfo Backend::info() const { return {}; }

}  // namespace cairn::device
