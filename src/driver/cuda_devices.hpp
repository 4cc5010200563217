#pragma once

#include "cairn/devices.hpp"
#include "device/context_impl.hpp"
#include "device/libraries/product_library.hpp"

#include <filesystem>
#include <memory>

namespace cairn::driver {

/// Opens a CUDA device with its kernels, which are compiled unless `cache` has them (null: none). Throws
/// Error(unsupported) with the reason if it cannot be used.
DeviceBackend open_cuda(Device device, const ContextOptions& options, std::shared_ptr<device::KernelCache> cache);

/// find_devices().
FoundDevices find_cuda_devices(const std::filesystem::path& cuda_driver);

/// The kernels and rates of a CUDA device: those that its compute capability permits (90 for 9.0), and one for copies
/// between it and the host. Without `products` none calls a library.
KernelSet kernels_for_cuda(DeviceRates rates, int compute_capability,
                           const std::shared_ptr<device::ProductLibrary>& products = nullptr);

}  // namespace cairn::driver
