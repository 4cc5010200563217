#include "device/cuda/cuda_backend.hpp"

#include "cairn/error.hpp"
#include "device/cuda/calibrate_device.hpp"
#include "device/cuda/cublaslt_products.hpp"
#include "device/cuda/cuda_commands.hpp"
#include "device/cuda/cuda_compiler.hpp"
#include "device/cuda/cuda_memory.hpp"
#include "device/cuda/driver_release.hpp"
#include "device/cuda/linear_copy.hpp"
#include "device/cuda/time_calls.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace cairn::device::cuda {
namespace {

/// The clock by which the host's part of a calibration is timed.
double host_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Programmatic dependent launch needs compute capability 9.0, and a graph: launches that are submitted alone follow
/// one another at longer intervals than a kernel could use.
bool has_dependent_launches(const CudaDevice& device, const CudaBackendOptions& options) {
    return options.graphs && options.dependent_launches && device.properties().major >= 9;
}

class Cuda final : public Backend {
public:
    /// `release`: of the driver; empty if unknown.
    Cuda(int index, std::shared_ptr<const DriverTable> driver, std::shared_ptr<Nvrtc> nvrtc, CudaBackendOptions options,
         std::string release = {})
        : device_(std::make_shared<CudaDevice>(std::move(driver), index, std::move(options.allocator))),
          staging_(std::make_shared<Staging>(device_)),
          nvrtc_(std::move(nvrtc)),
          compiler_(device_, nvrtc_, std::move(options.prelude), std::move(options.cache),
                    has_dependent_launches(*device_, options)),
          graphs_(options.graphs),
          dependent_launches_(has_dependent_launches(*device_, options)),
          release_(std::move(release)),
          cublaslt_(std::move(options.cublaslt)) {
        if (cublaslt_ != nullptr) products_ = std::make_shared<CublasltProducts>(device_, cublaslt_);
    }

    std::unique_ptr<Memory> reserve(std::size_t bytes, MemoryUse) override {
        return CudaMemory::make(device_, staging_, bytes);
    }
    std::size_t page_bytes() const noexcept override { return CudaDevice::allocation_alignment; }
    std::optional<Device> device_of_memory(const void* address) const noexcept override {
        try {
            const CurrentContext current(*device_);
            const std::optional<int> index = device_->calls().device_of_memory(address);
            return index ? std::optional(Device::cuda(*index)) : std::nullopt;
        } catch (...) { return std::nullopt; }
    }
    void copy(std::byte* target, const std::byte* source, std::size_t bytes) override {
        if (bytes == 0) return;
        const CurrentContext current(*device_);
        LinearCopy copy;
        copy.bind(target, source, bytes, *device_);
        copy.submit(*device_, device_->stream());
        device_->synchronize();
    }
    std::optional<std::int64_t> free_memory() const override {
        const CurrentContext current(*device_);
        std::size_t free_bytes = 0, total_bytes = 0;
        device_->calls().call(&DriverTable::memory_info, &free_bytes, &total_bytes);
        return static_cast<std::int64_t>(free_bytes);
    }

    std::vector<std::shared_ptr<const void>> compile(std::span<const DeviceCode* const> texts,
                                                     const CompileRequest& request) override {
        return compiler_.compile(texts, request);
    }
    std::shared_ptr<const KernelBinary> binary(const void* code) const override {
        return static_cast<const CudaKernel*>(code)->module->binary();
    }
    bool compiles_kernels() const noexcept override { return true; }
    std::unique_ptr<CommandBuffer> record(std::span<const KernelLaunch> launches,
                                          std::span<const std::int64_t> symbols) override {
        return std::make_unique<CudaCommands>(device_, launches, symbols, graphs_);
    }
    const CudaDevice& device() const noexcept { return *device_; }
    const std::shared_ptr<ProductLibrary>& products() const noexcept { return products_; }
    double time(const TimedCalls& calls, std::optional<Failure>& failure) override {
        return time_calls(device_, calls, graphs_, failure);
    }
    // That of events.
    double clock_step() const noexcept override { return 5e-7; }
    bool is_lost() const noexcept override { return device_->calls().is_lost(); }

    int threads() const noexcept override { return 1; }
    FeatureSet features() const override { return {}; }
    CacheSizes caches() const override { return {0, device_->properties().l2_bytes}; }
    std::string fingerprint(const FeatureSet&) const override {
        const DeviceProperties& properties = device_->properties();
        std::string reason;
        const std::string compiler = compiler_version(reason);
        return fmt::format("{} | compute capability {}.{} | multiprocessors {} L2 {} | driver {} | NVRTC {} | {}",
                           properties.name, properties.major, properties.minor, properties.multiprocessors,
                           properties.l2_bytes, driver_text(), compiler.empty() ? "none" : compiler,
                           !graphs_              ? "single launches"
                           : dependent_launches_ ? "CUDA graphs with dependent launches"
                                                 : "CUDA graphs");
    }

    std::optional<DeviceCalibration> calibrate(double seconds, const std::stop_token& stop) override {
        // Staging of its own: its buffers are freed at the end, too.
        const auto staging = std::make_shared<Staging>(device_);
        const auto reserve = [&](std::size_t bytes) { return CudaMemory::make(device_, staging, bytes); };
        const DeviceProperties& properties = device_->properties();
        return calibrate_device({*this, reserve, properties.multiprocessors, properties.l2_bytes,
                                 properties.major >= first_with_mma, host_seconds},
                                seconds, stop);
    }
    DeviceInfo info() const override {
        const DeviceProperties& properties = device_->properties();
        DeviceInfo info;
        info.name = properties.name;
        info.compute_capability = 10 * properties.major + properties.minor;
        info.multiprocessors = properties.multiprocessors;
        info.cache_bytes = properties.l2_bytes;
        info.memory_bytes = static_cast<std::int64_t>(properties.memory_bytes);
        info.free_bytes = *free_memory();
        info.driver = driver_text();
        info.compiler = compiler_version(info.compiler_path);
        if (!info.compiler.empty()) info.compiler_path = nvrtc_->path();
        if (products_ != nullptr) info.cublaslt_path = products_->refusal();
        if (products_ != nullptr && info.cublaslt_path.empty()) {
            info.cublaslt = cublaslt_->version();
            info.cublaslt_path = cublaslt_->path();
        }
        return info;
    }

private:
    // Major compute capability from which on mma.sync has the forms that the probes use.
    static constexpr int first_with_mma = 8;

    std::string driver_text() const {
        int version = 0;
        device_->calls().call(&DriverTable::driver_version, &version);
        return version_text(version) + (release_.empty() ? "" : fmt::format(" ({})", release_));
    }
    /// Version of NVRTC; empty, with the reason, if it cannot be opened.
    std::string compiler_version(std::string& reason) const {
        try {
            const NvrtcVersion version = nvrtc_->version();
            return fmt::format("{}.{}", version.major, version.minor);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::unsupported) throw;
            reason = error.what();
            return {};
        }
    }

    std::shared_ptr<CudaDevice> device_;
    std::shared_ptr<Staging> staging_;
    std::shared_ptr<Nvrtc> nvrtc_;
    CudaCompiler compiler_;
    bool graphs_, dependent_launches_;
    std::string release_;
    std::shared_ptr<Cublaslt> cublaslt_;
    std::shared_ptr<ProductLibrary> products_;
};

/// Operations of 16-bit products with sums of f32 that `mma.sync` does in a cycle on a multiprocessor: all that it has,
/// and from 9.0 on what it reaches without `wgmma`.
double tensor_operations(const DeviceProperties& properties) {
    if (properties.major < 8) return 0;
    return properties.major >= 9 ? 2560 : properties.minor == 0 ? 2048 : 1024;
}

/// Rates by the device's clocks and widths, and by the usual costs of a launch, in a graph or alone, and of a copy over
/// the link.
DeviceRates nominal_rates(const CudaDevice& device, const CudaBackendOptions& options) {
    constexpr double lanes = 128, link_bandwidth = 25e9, link_seconds = 8e-6, step_seconds = 0.5e-6;
    const DeviceProperties& properties = device.properties();
    DeviceRates rates;
    rates.flops = 2 * lanes * properties.multiprocessors * properties.clock_hz;
    const double tensor_flops = tensor_operations(properties) * properties.multiprocessors * properties.clock_hz;
    for (const Arithmetic arithmetic : {Arithmetic::f16, Arithmetic::bf16})
        rates.arithmetic_flops[static_cast<std::size_t>(arithmetic)] = tensor_flops;
    rates.arithmetic_flops[static_cast<std::size_t>(Arithmetic::tf32)] = tensor_flops / 2;
    rates.bandwidth = 2 * properties.memory_clock_hz * properties.memory_bus_bits / 8;
    rates.launch_seconds = has_dependent_launches(device, options) ? 0.8e-6 : options.graphs ? 1e-6 : 3e-6;
    rates.link_bandwidth = link_bandwidth;
    rates.link_seconds = link_seconds;
    rates.step_seconds = step_seconds;
    return rates;
}

OpenedDevice opened_device(std::unique_ptr<Cuda> cuda, const CudaBackendOptions& options) {
    OpenedDevice device;
    device.rates = nominal_rates(cuda->device(), options);
    device.compute_capability = 10 * cuda->device().properties().major + cuda->device().properties().minor;
    device.products = cuda->products();
    device.backend = std::move(cuda);
    return device;
}

}  // namespace

OpenedDevice open_device(int index, const CudaOptions& options) {
    OpenedDriver opened = open_driver(options.driver);
    if (opened.driver == nullptr) throw Error(ErrorKind::unsupported, "cuda", opened.reason);
    CudaBackendOptions with_library = options.backend;
    if (with_library.cublaslt == nullptr) with_library.cublaslt = std::make_shared<Cublaslt>(options.folders);
    return opened_device(
        std::make_unique<Cuda>(index, std::move(opened.driver), std::make_shared<Nvrtc>(options.folders), with_library,
                               driver_release()),
        with_library);
}

OpenedDevice open_device(int index, std::shared_ptr<const DriverTable> driver, std::shared_ptr<Nvrtc> nvrtc,
                         CudaBackendOptions options) {
    return opened_device(std::make_unique<Cuda>(index, std::move(driver), std::move(nvrtc), options), options);
}

std::unique_ptr<Backend> cuda_backend(int index, const CudaOptions& options) {
    return open_device(index, options).backend;
}

std::unique_ptr<Backend> cuda_backend(int index, std::shared_ptr<const DriverTable> driver,
                                      std::shared_ptr<Nvrtc> nvrtc, CudaBackendOptions options) {
    return std::make_unique<Cuda>(index, std::move(driver), std::move(nvrtc), std::move(options));
}

}  // namespace cairn::device::cuda
