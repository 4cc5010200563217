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
    std::shared_ptr<device::cuda::Cublaslt> cublaslt;
    if (cublaslt_) cublaslt = std::make_shared<device::cuda::Cublaslt>(cublaslt_->table());
    if (!options_.cublaslt_folder.empty())
        cublaslt = std::make_shared<device::cuda::Cublaslt>(device::cuda::LibraryFolders{options_.cublaslt_folder, {}});
    if (const device::cuda::LibraryFolders folders{options.cuda_libraries.string(), {}}; !folders.given.empty()) {
        nvrtc = std::make_shared<device::cuda::Nvrtc>(folders);
        if (cublaslt) cublaslt = std::make_shared<device::cuda::Cublaslt>(folders);
    }
    std::shared_ptr<device::KernelCache> cache;
    if (!options.kernel_cache.empty())
        cache = std::make_shared<runtime::KernelCacheFolder>(options.kernel_cache, options.log);
    device::cuda::OpenedDevice opened = device::cuda::open_device(
        0, driver_.table(), std::move(nvrtc),
        device::cuda::CudaBackendOptions{std::string(kernels::cuda::prelude_text()), options.cuda_graphs,
                                         options.cuda_dependent_launches, std::move(cache), options.device_allocator,
                                         std::move(cublaslt)});
    std::vector<DeviceBackend> devices;
    devices.push_back({rates.device, std::move(opened.backend),
                       driver::kernels_for_cuda(rates, options_.compute_capability, opened.products)});
    return driver::make_context(std::move(options), std::move(devices));
}

}  // namespace cairn::test
