#pragma once

#include "cairn/context.hpp"
#include "cairn/timing_db.hpp"
#include "cairn/tuning.hpp"
#include "device/backend.hpp"
#include "graph/types/per_device.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

namespace cairn::fusion {
struct PatternSet;
}
namespace cairn::selection {
class Priors;
}
namespace cairn::autotune {
class CandidateCodes;
class OperandMemory;
}  // namespace cairn::autotune

namespace cairn {

/// True for a reference kernel: one of the plain kernels, one for each atomic op, that every other kernel precedes.
inline bool is_reference(std::string_view kernel) noexcept { return kernel.find(".reference.") != kernel.npos; }

/// True for the CPU, and for a device that has rates.
inline bool has_device(std::span<const DeviceRates> devices, Device device) noexcept {
    return device == Device::cpu || std::any_of(devices.begin(), devices.end(),
                                                [&](const DeviceRates& rates) { return rates.device == device; });
}

/// A device other than the CPU: its backend, and its rates and kernels unless they are in ContextOptions::extra.
struct DeviceBackend {
    Device device;
    std::unique_ptr<device::Backend> backend;
    KernelSet kernels = {};
    int compute_capability = 0;      ///< of a CUDA device: 90 for 9.0; 0: unknown
    bool has_nominal_rates = false;  ///< the rates in `kernels` are nominal: measured ones replace them
};

inline namespace v0 {

/// State owned by a Context. Constructed in context.cpp; shared by the compiler, the autotuner and the runtime.
struct Context::Impl {
    Impl(ContextOptions given, std::unique_ptr<device::CpuBackend> cpu_backend, std::vector<DeviceBackend> others)
        : options(std::move(given)), cpu(std::move(cpu_backend)), other_backends(std::move(others)) {}

    ContextOptions options;
    FeatureSet features;  ///< in use
    KernelSet kernels;
    std::unique_ptr<device::CpuBackend> cpu;
    std::vector<DeviceBackend> other_backends;
    std::unique_ptr<TimingDb> timings;
    std::mutex priors_mutex;
    std::shared_ptr<const selection::Priors> priors;  ///< null until a compile has read the shipped timings
    std::mutex patterns_mutex;
    std::shared_ptr<const fusion::PatternSet> patterns;  ///< of the definitions; null until a compile
    std::optional<Calibration> machine;                  ///< once it has been measured
    std::mutex measuring;  ///< held while times are measured: other load would disturb them
    /// Operands of measured kernels; empty unless measuring.
    types::PerDevice<std::shared_ptr<autotune::OperandMemory>> operand_memory;
    /// Of weights that kernels of the CPU read where the host has them, in pages of ordinary size.
    std::shared_ptr<autotune::OperandMemory> host_weight_memory;
    std::shared_ptr<autotune::CandidateCodes> candidate_codes;  ///< of measured kernels; null unless measuring

    /// A device other than the CPU; null if the Context has not opened it.
    const DeviceBackend* other_backend(Device device) const noexcept {
        for (const DeviceBackend& each : other_backends)
            if (each.device == device) return &each;
        return nullptr;
    }
    /// The backend of a device; null if the Context has not opened it.
    device::Backend* opened(Device device) const noexcept {
        if (device == Device::cpu) return cpu.get();
        const DeviceBackend* const found = other_backend(device);
        return found != nullptr ? found->backend.get() : nullptr;
    }
    /// The backend of a device. A device that has rates alone is simulated: in the host's memory, by the CPU.
    device::Backend& backend(Device device) const noexcept {
        device::Backend* const found = opened(device);
        return found != nullptr ? *found : *cpu;
    }
    bool has_lost_device() const noexcept {
        return std::any_of(other_backends.begin(), other_backends.end(),
                           [](const DeviceBackend& other) { return other.backend->is_lost(); });
    }
    /// The device in whose memory an address is, if the host cannot access it; empty for memory of the host.
    std::optional<Device> device_of_memory(const void* address) const noexcept {
        for (const DeviceBackend& other : other_backends)
            if (const std::optional<Device> device = other.backend->device_of_memory(address)) return device;
        return {};
    }
    void log(LogLevel level, std::string_view line) const {
        if (options.log) options.log(level, line);
    }
    /// True for a kernel of ContextOptions::extra, at any of its settings.
    bool is_extra(std::string_view id) const noexcept {
        return std::any_of(options.extra.kernels.begin(), options.extra.kernels.end(),
                           [&](const Kernel& kernel) { return kernel.id == id.substr(0, id.find('{')); });
    }
    /// The kernel of that id; null if there is none.
    const Kernel* find(std::string_view id) const noexcept {
        for (const Kernel& kernel : kernels.kernels)
            if (kernel.id == id) return &kernel;
        return nullptr;
    }
};

}  // namespace v0
}  // namespace cairn
