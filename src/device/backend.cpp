#include "device/backend.hpp"

#include <cstring>

namespace cairn::device {

// Each interface has one function that is not inline: its vtable is then emitted here alone.
Memory::~Memory() = default;
CommandBuffer::~CommandBuffer() = default;
CallArguments::~CallArguments() = default;
Backend::~Backend() = default;
std::optional<Device> Backend::device_of_memory(const void*) const noexcept { return std::nullopt; }
void Backend::copy(std::byte* target, const std::byte* source, std::size_t bytes) {
    if (bytes > 0) std::memmove(target, source, bytes);
}
HostThreads::~HostThreads() = default;
KernelCache::~KernelCache() = default;

std::shared_ptr<const KernelBinary> Backend::binary(const void*) const { return nullptr; }
std::string Backend::permit(FeatureSet) { return {}; }

std::optional<DeviceCalibration> Backend::calibrate(double, const std::stop_token&) { return std::nullopt; }
DeviceInfo Backend::info() const { return {}; }

}  // namespace cairn::device
