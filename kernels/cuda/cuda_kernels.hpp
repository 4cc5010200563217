#pragma once

#include "cairn/kernel.hpp"
#include "device/libraries/product_library.hpp"

#include <memory>

namespace cairn::kernels::cuda {

/// The CUDA kernels in order of preference, and the device with the given rates. No definitions: those are served with
/// the kernels of the CPU. Without kernels for `copy_to`, which the backend adds, and without those that call a library
/// of products if there is none (null).
KernelSet cuda_kernels(const DeviceRates& rates, const std::shared_ptr<device::ProductLibrary>& products = nullptr);

}  // namespace cairn::kernels::cuda
