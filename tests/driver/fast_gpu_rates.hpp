#pragma once

#include "cairn/kernel.hpp"

#include <string>
#include <utility>

namespace cairn::test {

/// Rates of a GPU that is faster than the CPU in everything: the same for a GPU and for the emulated device, since
/// tests expect the kernels that follow from them.
inline DeviceRates fast_gpu_rates(std::string name) {
    DeviceRates rates;
    rates.device = Device::cuda();
    rates.flops = 1e15;
    rates.bandwidth = 1e15;
    rates.launch_seconds = 1e-8;
    rates.link_bandwidth = 1e13;
    rates.link_seconds = 1e-9;
    rates.name = std::move(name);
    return rates;
}

}  // namespace cairn::test
