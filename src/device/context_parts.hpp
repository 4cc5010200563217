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

/// One of the plain kernels, one for every atomic op, that stand behind all others.
inline bool is_reference(std::string_view kernel) noexcept { return kernel.find(".reference.") != kernel.npos; }

/// True of the CPU, and of a device that has rates.
inline bool is_available(std::span<const DeviceRates> devices, Device device) noexcept {
    return device == Device::cpu || std::any_of(devices.begin(), devices.end(),
                                                [&](const DeviceRates& rates) { return rates.device == device; });
}

/// What a Context owns; made in context.cpp, used by the rooms that run, measure or compile.
struct Context::Parts {
    explicit Parts(ContextOptions given) : options(std::move(given)), pool(options.threads) {}

    ContextOptions options;
    FeatureSet features;  ///< in use
    KernelSet kernels;
    device::ThreadPool pool;
    std::unique_ptr<TimingDb> timings;
    std::mutex priors_mutex;
    std::shared_ptr<const void> priors;  ///< what seeds tell of other machines, once a compile has read them
    std::mutex patterns_mutex;
    std::shared_ptr<const void> patterns;  ///< of the definitions, once compile has made them
    std::size_t pattern_axes = 0;          ///< of the values in graphs that they are made for
    bool patterns_round = false;           ///< whether they are made for graphs that round to 16-bit floats
    bool patterns_of_integers = false;     ///< whether they are made for graphs that multiply matrices of integers
    std::optional<Calibration> machine;    ///< what it can do, once it has been measured
    std::mutex measuring;                  ///< held by who measures: others would disturb it
    std::shared_ptr<void> operand_memory;  ///< what measured kernels read and write; kept while somebody measures

    void log(LogLevel level, std::string_view line) const {
        if (options.log) options.log(level, line);
    }
    /// True of a kernel of ContextOptions::extra, at any of its settings.
    bool is_own(std::string_view id) const noexcept {
        return std::any_of(options.extra.kernels.begin(), options.extra.kernels.end(),
                           [&](const Kernel& kernel) { return kernel.id == id.substr(0, id.find('{')); });
    }
    /// The kernel of that id; null when there is none.
    const Kernel* find(std::string_view id) const noexcept {
        for (const Kernel& kernel : kernels.kernels)
            if (kernel.id == id) return &kernel;
        return nullptr;
    }
};

}  // namespace cairn::inline v0
