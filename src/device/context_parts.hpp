#pragma once

#include "cairn/context.hpp"
#include "cairn/timing_db.hpp"
#include "cairn/tuning.hpp"
#include "device/cpu/thread_pool.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

namespace cairn::inline v0 {

/// True for a reference kernel: a plain implementation of one atomic op, of which every op has one as a fallback.
inline bool is_reference(std::string_view kernel) noexcept { return kernel.find(".reference.") != kernel.npos; }

/// True for the CPU, and for a device that has rates.
inline bool is_available(std::span<const DeviceRates> devices, Device device) noexcept {
    return device == Device::cpu || std::any_of(devices.begin(), devices.end(),
                                                [&](const DeviceRates& rates) { return rates.device == device; });
}

/// State owned by a Context. Constructed in context.cpp; shared by the compiler, the autotuner and the runtime.
struct Context::Parts {
    explicit Parts(ContextOptions given) : options(std::move(given)), pool(options.threads) {}

    ContextOptions options;
    FeatureSet features;  ///< in use
    KernelSet kernels;
    device::ThreadPool pool;
    std::unique_ptr<TimingDb> timings;
    std::mutex priors_mutex;
    std::shared_ptr<const void> priors;  ///< priors from the shipped timings of other machines, once a compile has read
                                         ///< them
    std::mutex patterns_mutex;
    std::shared_ptr<const void> patterns;  ///< patterns of the definitions, once compile has made them
    std::size_t pattern_axes = 0;          ///< number of axes of the values in the graphs that they were made for
    bool patterns_round = false;           ///< true if they were made for graphs that round to 16-bit floats
    bool patterns_of_integers = false;     ///< true if they were made for graphs with integer matrix products
    std::optional<Calibration> machine;    ///< the calibration, once it has been measured
    std::mutex measuring;                  ///< held during measurements, which others would disturb
    std::shared_ptr<void> operand_memory;  ///< autotune::OperandMemory; kept until a measuring compile releases it

    void log(LogLevel level, std::string_view line) const {
        if (options.log) options.log(level, line);
    }
    /// True for a kernel of ContextOptions::extra, at any of its settings.
    bool is_own(std::string_view id) const noexcept {
        return std::any_of(options.extra.kernels.begin(), options.extra.kernels.end(),
                           [&](const Kernel& kernel) { return kernel.id == id.substr(0, id.find('{')); });
    }
    /// The kernel with that id; null if there is none.
    const Kernel* find(std::string_view id) const noexcept {
        for (const Kernel& kernel : kernels.kernels)
            if (kernel.id == id) return &kernel;
        return nullptr;
    }
};

}  // namespace cairn::inline v0
