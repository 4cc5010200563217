#include "driver/cuda_devices.hpp"

#include "device/cuda/cuda_backend.hpp"
#include "graph/types/device_code.hpp"
#include "kernels/cuda/cuda_kernels.hpp"
#include "kernels/cuda/prelude_text.hpp"

#include <fmt/format.h>

#include <utility>

#ifndef CAIRN_CUDA_LIBRARY_FOLDER
#define CAIRN_CUDA_LIBRARY_FOLDER ""
#endif

namespace cairn::driver {
namespace {

/// Copies of dense tensors in both directions: launches without code (device::KernelLaunch::copy_bytes).
Kernel link_copy(Device device) {
    Kernel kernel;
    kernel.id = "cuda.link.copy_to@1";
    kernel.definition = "copy_to";
    kernel.device = device;
    kernel.accepts = [](const Problem& problem) -> Refusal {
        const TensorDesc &from = problem.inputs[0], &to = problem.outputs[0];
        if (!from.is_dense() || !to.is_dense()) return "needs dense operands";
        return {};
    };
    for (const Device target : {device, Device::cpu})
        kernel.samples.push_back(
            fmt::format("copy_to device=({}) | f32[N,3] -> f32[N,3] where N in 0..5000", types::device_code(target)));
    return kernel;
}

std::string driver_name(const std::filesystem::path& given) {
    return given.empty() ? device::cuda::CudaOptions().driver : given.string();
}

}  // namespace

DeviceBackend open_cuda(Device device, const ContextOptions& options, std::shared_ptr<device::KernelCache> cache) {
    device::cuda::CudaOptions cuda;
    cuda.driver = driver_name(options.cuda_driver);
    cuda.folders = {options.cuda_libraries.string(), CAIRN_CUDA_LIBRARY_FOLDER};
    cuda.backend = {std::string(kernels::cuda::prelude_text()), options.cuda_graphs, options.cuda_dependent_launches,
                    std::move(cache), options.device_allocator};
    device::cuda::OpenedDevice opened = device::cuda::open_device(device.index, cuda);
    opened.rates.device = device;
    KernelSet kernels = kernels_for_cuda(std::move(opened.rates), opened.compute_capability, opened.products);
    return {device, std::move(opened.backend), std::move(kernels), opened.compute_capability, true};
}

FoundDevices find_cuda_devices(const std::filesystem::path& cuda_driver) {
    device::cuda::OpenedDriver opened = device::cuda::open_driver(driver_name(cuda_driver));
    FoundDevices found;
    found.has_driver = opened.is_library;
    if (opened.driver == nullptr)
        found.reason = std::move(opened.reason);
    else
        for (int index = 0; index < opened.devices; ++index) found.devices.push_back(Device::cuda(index));
    return found;
}

KernelSet kernels_for_cuda(DeviceRates rates, int compute_capability,
                           const std::shared_ptr<device::ProductLibrary>& products) {
    KernelSet set = kernels::cuda::cuda_kernels(rates, products);
    std::erase_if(set.kernels, [&](const Kernel& kernel) { return kernel.compute_capability > compute_capability; });
    set.kernels.push_back(link_copy(rates.device));
    return set;
}

}  // namespace cairn::driver
