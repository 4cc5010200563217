#pragma once

#include "cairn/context.hpp"
#include "driver/make_context.hpp"
#include "tests/device/text_backend.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cairn::test {

/// Copies of dense tensors between the host and cuda:0, by the backend.
inline Kernel text_copy() {
    Kernel kernel;
    kernel.id = "cuda.link.copy_to@1";
    kernel.definition = "copy_to";
    kernel.device = Device::cuda();
    kernel.accepts = [](const Problem& problem) -> Refusal {
        return problem.inputs[0].is_dense() && problem.outputs[0].is_dense() ? "" : "needs dense operands";
    };
    for (const char* target : {"1", "0"})
        kernel.samples.push_back(std::string("copy_to device=(") + target +
                                 ") | f32[N,3] -> f32[N,3] where N in 0..40");
    return kernel;
}

/// A Context with a device whose kernels are texts, at rates that make it faster than the CPU, and with these kernels.
/// `backend` becomes the backend, which the Context owns.
inline Context with_text_device(std::vector<Kernel> kernels, TextBackend*& backend, ContextOptions options = {}) {
    auto made = std::make_unique<TextBackend>();
    backend = made.get();
    options.extra.kernels = std::move(kernels);
    std::vector<DeviceBackend> devices;
    devices.push_back({Device::cuda(), std::move(made), {}});
    devices[0].compute_capability = 80;
    devices[0].kernels.kernels = {text_copy()};
    devices[0].kernels.devices = {{Device::cuda(), 1e15, 1e14, 1e-8, 1e13, 1e-9, "texts"}};
    return driver::make_context(std::move(options), std::move(devices));
}

}  // namespace cairn::test
