#include "driver/open_devices.hpp"

#include "driver/cuda_devices.hpp"
#include "runtime/kernel_cache_folder.hpp"

#include <algorithm>
#include <memory>

namespace cairn::driver {

std::vector<DeviceBackend> open_devices(const ContextOptions& options) {
    std::vector<DeviceBackend> opened;
    std::shared_ptr<device::KernelCache> cache;
    if (!options.kernel_cache.empty())
        cache = std::make_shared<runtime::KernelCacheFolder>(options.kernel_cache, options.log);
    for (const Device device : options.devices) {
        if (device == Device::cpu) continue;
        if (std::any_of(opened.begin(), opened.end(),
                        [&](const DeviceBackend& other) { return other.device == device; }))
            throw Error(ErrorKind::argument, "context", "the device " + to_string(device) + " is named twice");
        opened.push_back(open_cuda(device, options, cache));
    }
    return opened;
}

}  // namespace cairn::driver

namespace cairn::inline v0 {

FoundDevices find_devices(const std::filesystem::path& cuda_driver) { return driver::find_cuda_devices(cuda_driver); }

DeviceInfo device_info(const Context& context, Device device) {
    for (const DeviceBackend& other : context.impl()->other_backends)
        if (other.device == device) return other.backend->info();
    throw Error(ErrorKind::argument, "context", "the device " + to_string(device) + " is not open in this Context");
}

std::vector<Device> devices_from_text(std::string_view text, const std::filesystem::path& cuda_driver) {
    if (text == "auto")
        return find_devices(cuda_driver).devices.empty() ? std::vector{Device::cpu}
                                                         : std::vector{Device::cpu, Device::cuda()};
    const std::optional<Device> device = parse_device(text);
    if (!device)
        throw Error(ErrorKind::argument, "context",
                    "there is no device \"" + std::string(text) + "\": it is cpu, cuda, cuda:1 and so on, or auto");
    return *device == Device::cpu ? std::vector{Device::cpu} : std::vector{Device::cpu, *device};
}

}  // namespace cairn::inline v0
