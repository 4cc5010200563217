#include "driver/cuda_devices.hpp"

// In place of cuda_devices.cpp in a library without CUDA.
namespace cairn::driver {

DeviceBackend open_cuda(Device device, const ContextOptions&, std::shared_ptr<device::KernelCache>) {
    throw Error(ErrorKind::unsupported, "context",
                "the device " + to_string(device) + " cannot be used: this library was built without CUDA");
}

FoundDevices find_cuda_devices(const std::filesystem::path&) {
    FoundDevices none;
    none.reason = "this library was built without CUDA";
    return none;
}

KernelSet kernels_for_cuda(DeviceRates, int, const std::shared_ptr<device::ProductLibrary>&) { return {}; }

}  // namespace cairn::driver
