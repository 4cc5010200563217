#pragma once

#include "cairn/kernels.hpp"
#include "driver/make_context.hpp"
#include "tests/device/private_memory_backend.hpp"

#include <limits>
#include <string>
#include <utility>

namespace cairn::test {

/// What copies over a link of bytes that follow one another can copy.
inline Refusal refuse_strided(const Problem& problem) {
    const bool is_dense = problem.inputs[0].is_dense() && problem.outputs[0].is_dense();
    return is_dense ? Refusal() : "needs dense memory";
}

/// The reference kernels under other names, for a second device at invented rates.
inline KernelSet second_device(DeviceRates rates, Cost (*cost)(const Problem&) = nullptr) {
    KernelSet set;
    for (Kernel kernel : cpu_kernels().kernels) {
        if (kernel.id.find(".reference.") == std::string::npos) continue;
        kernel.id = "cuda" + kernel.id.substr(kernel.id.find('.'));
        kernel.device = rates.device;
        if (cost != nullptr) kernel.cost = cost;
        if (kernel.definition == "copy_to") kernel.accepts = refuse_strided;
        kernel.samples.clear();
        set.kernels.push_back(std::move(kernel));
    }
    set.devices.push_back(rates);
    return set;
}

/// A Context with a second device of these rates, whose memory of that many bytes the host cannot access. Kernels of
/// `options.extra` are kept.
inline Context with_second_device(const DeviceRates& rates, ContextOptions options = {},
                                  std::int64_t memory = std::numeric_limits<std::int64_t>::max()) {
    KernelSet set = second_device(rates);
    // Kernels of the test come first.
    set.kernels.insert(set.kernels.begin(), options.extra.kernels.begin(), options.extra.kernels.end());
    options.extra = std::move(set);
    std::vector<DeviceBackend> devices;
    devices.push_back({rates.device, std::make_unique<PrivateMemoryBackend>(options.threads, memory, rates.device)});
    return driver::make_context(std::move(options), std::move(devices));
}

}  // namespace cairn::test
