#include "tests/driver/real_device.hpp"

#include "device/cuda/cuda_backend.hpp"
#include "driver/cuda_devices.hpp"
#include "driver/make_context.hpp"
#include "kernels/cuda/prelude_text.hpp"
#include "runtime/kernel_cache_folder.hpp"
#include "tests/driver/fast_gpu_rates.hpp"

#include <algorithm>
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

/// The kernels that this process has compiled.
class CompiledKernels final : public device::KernelCache {
public:
    std::shared_ptr<const device::KernelBinary> find(const std::string& key) override {
        const std::scoped_lock lock(mutex_);
        const auto found = binaries_.find(key);
        return found == binaries_.end() ? nullptr : found->second;
    }
    void store(const device::KernelBinary& binary) override {
        const std::scoped_lock lock(mutex_);
        binaries_[binary.keys.at(0)] = std::make_shared<const device::KernelBinary>(binary);
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const device::KernelBinary>> binaries_;
};

std::shared_ptr<device::KernelCache> shared_kernels() {
    static const auto only = std::make_shared<CompiledKernels>();
    return only;
}

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

Context RealDevice::context(ContextOptions options) const {
    options.threads = std::max(options.threads, std::min(usable_cpus(), 8));
    return open(std::move(options), shared_kernels());
}

Context RealDevice::process_context(ContextOptions options) const {
    std::shared_ptr<device::KernelCache> cache;
    if (!options.kernel_cache.empty())
        cache = std::make_shared<runtime::KernelCacheFolder>(options.kernel_cache, options.log);
    return open(std::move(options), std::move(cache));
}

Context RealDevice::open(ContextOptions options, std::shared_ptr<device::KernelCache> cache) const {
    counter.driver = driver_table();
    auto table = std::make_shared<DriverTable>(*counter.driver);
    table->launch = counting_launch;
    table->graph_instantiate = counting_instantiate;
    table->graph_launch = counting_graph_launch;
    const DeviceRates rates = fast_gpu_rates("a GPU");
    const LibraryFolders folders{options.cuda_libraries.string(), CAIRN_NVRTC_FOLDER};
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
