#include "driver/cuda_devices.hpp"

// In place of cuda_devices.cpp in a library without CUDA.
namespace cairn::driver {

DeviceBackend open_cuda(Device device, const ContextOptions&, std::shared_ptr<device::KernelCache>) {
    throw Error(ErrorKind::unsupported, "context",
                "the device " + to_string(device) + " cannot be used: this library was built without CUDA");
}

bool has_cuda_device(const std::filesystem::path&) { return false; }

KernelSet kernels_for_cuda(DeviceRates, int) { return {}; }

}  // namespace cairn::driver
