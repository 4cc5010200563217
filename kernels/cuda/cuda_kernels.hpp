#pragma once

#include "cairn/kernel.hpp"

namespace cairn::kernels::cuda {

/// The CUDA kernels in order of preference, and the device with the given rates. No definitions: those are served with
/// the kernels of the CPU. Without kernels for `copy_to`, which the backend adds.
KernelSet cuda_kernels(const DeviceRates& rates);

}  // namespace cairn::kernels::cuda
