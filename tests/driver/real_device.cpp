#include "tests/driver/real_device.hpp"

#include "device/cuda/cuda_backend.hpp"
#include "driver/cuda_devices.hpp"
#include "driver/make_context.hpp"
#include "kernels/cuda/prelude_text.hpp"
#include "runtime/kernel_cache_folder.hpp"
#include "tests/driver/fast_gpu_rates.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace cairn::test {
namespace {

using namespace device::cuda;

/// Counts launches. Those that are captured count whenever their graph is launched.
struct Counter {
    std::mutex mutex;
    std::int64_t launched = 0, graphs_launched = 0;
    std::map<std::thread::id, std::int64_t> captured;  // since the last graph was made
    std::map<GraphExecHandle, std::int64_t> kernels_of;
    std::shared_ptr<const DriverTable> driver;
};
// Functions of a table have no context.
Counter counter;

Result counting_launch(const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra) {
    CaptureStatus status = CaptureStatus::none;
    counter.driver->capture_status(config->stream, &status);
    {
        const std::scoped_lock lock(counter.mutex);
        ++(status == CaptureStatus::active ? counter.captured[std::this_thread::get_id()] : counter.launched);
    }
    return counter.driver->launch(config, function, parameters, extra);
}

Result counting_instantiate(GraphExecHandle* exec, GraphHandle graph, unsigned long long flags) {
    const Result result = counter.driver->graph_instantiate(exec, graph, flags);
    const std::scoped_lock lock(counter.mutex);
    counter.kernels_of[*exec] = std::exchange(counter.captured[std::this_thread::get_id()], 0);
    return result;
}

Result counting_graph_launch(GraphExecHandle exec, StreamHandle stream) {
    {
        const std::scoped_lock lock(counter.mutex);
        ++counter.graphs_launched;
        counter.launched += counter.kernels_of[exec];
    }
    return counter.driver->graph_launch(exec, stream);
}

}  // namespace

std::shared_ptr<const DriverTable> RealDevice::driver_table() const {
    OpenedDriver opened = open_driver();
    if (opened.driver == nullptr) throw Error(ErrorKind::unsupported, "cuda", opened.reason);
    return opened.driver;
}

Context RealDevice::context(ContextOptions options) {
    counter.driver = driver_table();
    auto table = std::make_shared<DriverTable>(*counter.driver);
    table->launch = counting_launch;
    table->graph_instantiate = counting_instantiate;
    table->graph_launch = counting_graph_launch;
    const DeviceRates rates = fast_gpu_rates("a GPU");
    const LibraryFolders folders{options.cuda_libraries.string(), CAIRN_NVRTC_FOLDER};
    std::shared_ptr<device::KernelCache> cache;
    if (!options.kernel_cache.empty())
        cache = std::make_shared<runtime::KernelCacheFolder>(options.kernel_cache, options.log);
    std::vector<DeviceBackend> devices;
    devices.push_back(
        {rates.device,
         cuda_backend(0, table, std::make_shared<Nvrtc>(folders),
                      CudaBackendOptions{std::string(kernels::cuda::prelude_text()), options.cuda_graphs,
                                         options.cuda_dependent_launches, std::move(cache), options.device_allocator}),
         driver::kernels_for_cuda(rates, 90)});
    return driver::make_context(std::move(options), std::move(devices));
}

std::int64_t RealDevice::launches() const {
    const std::scoped_lock lock(counter.mutex);
    return counter.launched;
}
std::int64_t RealDevice::graph_launches() const {
    const std::scoped_lock lock(counter.mutex);
    return counter.graphs_launched;
}

}  // namespace cairn::test
