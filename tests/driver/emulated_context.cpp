#include "device/cuda/cuda_backend.hpp"
#include "driver/cuda_devices.hpp"
#include "driver/make_context.hpp"
#include "kernels/cuda/prelude_text.hpp"
#include "runtime/kernel_cache_folder.hpp"
#include "tests/driver/emulated_device.hpp"
#include "tests/driver/fast_gpu_rates.hpp"

#include <utility>

namespace cairn::test {

Context EmulatedDevice::context(ContextOptions options) {
    const DeviceRates rates = fast_gpu_rates("emulated");
    std::shared_ptr<device::cuda::Nvrtc> nvrtc = nvrtc_;
    if (!options.cuda_libraries.empty())
        nvrtc =
            std::make_shared<device::cuda::Nvrtc>(device::cuda::LibraryFolders{options.cuda_libraries.string(), {}});
    std::shared_ptr<device::KernelCache> cache;
    if (!options.kernel_cache.empty())
        cache = std::make_shared<runtime::KernelCacheFolder>(options.kernel_cache, options.log);
    std::vector<DeviceBackend> devices;
    devices.push_back(
        {rates.device,
         device::cuda::cuda_backend(0, driver_.table(), std::move(nvrtc),
                                    device::cuda::CudaBackendOptions{
                                        std::string(kernels::cuda::prelude_text()), options.cuda_graphs,
                                        options.cuda_dependent_launches, std::move(cache), options.device_allocator}),
         driver::kernels_for_cuda(rates, options_.compute_capability)});
    return driver::make_context(std::move(options), std::move(devices));
}

}  // namespace cairn::test
