#pragma once

#include "cairn/kernels.hpp"

#include <string>
#include <utility>

namespace cairn::test {

/// A fake second device in the CPU's memory: the same reference kernels under other names, at invented rates.
inline KernelSet second_device(DeviceRates rates, Cost (*cost)(const Problem&) = nullptr) {
    KernelSet set;
    for (Kernel kernel : cpu_kernels().kernels) {
        if (kernel.id.find(".reference.") == std::string::npos) continue;
        kernel.id = "cuda" + kernel.id.substr(kernel.id.find('.'));
        kernel.device = rates.device;
        if (cost != nullptr) kernel.cost = cost;
        kernel.samples.clear();
        set.kernels.push_back(std::move(kernel));
    }
    set.devices.push_back(rates);
    return set;
}

}  // namespace cairn::test
