#include "driver/make_context.hpp"

#include "cairn/kernels.hpp"
#include "device/cpu/cpu_backend.hpp"
#include "driver/validate_kernels.hpp"
#include "graph/types/isa_levels.hpp"
#include "graph/types/knobs.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace cairn::driver {
namespace {

template <typename T>
void append_moved(std::vector<T>& to, std::vector<T>&& from) {
    std::ranges::move(from, std::back_inserter(to));
}

/// Two devices of one kind come with the same definitions and layouts.
template <typename T>
void append_new(std::vector<T>& to, std::vector<T>&& from) {
    for (T& each : from)
        if (std::ranges::find(to, each.name, &T::name) == to.end()) to.push_back(std::move(each));
}

void append(KernelSet& to, KernelSet from) {
    append_new(to.definitions, std::move(from.definitions));
    append_new(to.layouts, std::move(from.layouts));
    for (Kernel& kernel : from.kernels) append_moved(to.kernels, all_settings(std::move(kernel)));
    append_moved(to.devices, std::move(from.devices));
    if (!from.build.empty()) to.build += (to.build.empty() ? "" : "; ") + from.build;
}

/// The enabled features, of those that the CPU has.
FeatureSet features_in_use(const ContextOptions& options, const FeatureSet& of_cpu) {
    constexpr FeatureSet of_tiles{Feature::amx_tile, Feature::amx_bf16, Feature::amx_int8};
    const FeatureSet available = options.tile_registers ? of_cpu : of_cpu - of_tiles;
    if (!options.features) return available;
    const FeatureSet requested = *options.features;
    const auto refuse = [&](const std::string& fault) {
        throw Error(ErrorKind::argument, "context", "features " + to_string(requested) + ": " + fault);
    };
    for (const Feature feature : all_features)
        if (const FeatureSet missing = implied_by(feature) - requested; requested.has(feature) && !missing.empty())
            refuse(std::string(to_string(feature)) + " requires " + to_string(missing) + ", which is not among them");
    if (!options.tile_registers && !(requested & of_tiles).empty())
        refuse("tile_registers is false, which excludes " + to_string(requested & of_tiles));
    if (const FeatureSet lacking = requested - available; !lacking.empty())
        refuse("this CPU lacks " + to_string(lacking) + ", it has " + to_string(available));
    return requested;
}

/// Kernels of a Context that has reference kernels only.
bool is_kept_reference_only(const Kernel& kernel) { return is_reference(kernel.id) || kernel.definition == "pack"; }

/// A device runs kernels of one form. Kernels for a device that the Context does not have are not used.
void check_forms(const Context::Impl& impl) {
    for (const Kernel& kernel : impl.options.extra.kernels) {
        if (kernel.device == Device::cpu || !has_device(impl.kernels.devices, kernel.device)) continue;
        const device::Backend* const backend = impl.opened(kernel.device);
        const bool takes_code = backend != nullptr && backend->compiles_kernels();
        if (takes_code == (kernel.run == nullptr)) continue;
        throw Error(
            ErrorKind::argument, "context",
            "kernel " + kernel.id +
                (takes_code
                     ? " has neither code nor enqueue, but device " + to_string(kernel.device) + " runs these alone"
                     : std::string(kernel.code ? " has code" : " has enqueue") + ", which needs device " +
                           to_string(kernel.device) + ": it is simulated, because it has rates and is not opened"));
    }
}

/// Leaves out kernels that are for newer devices, such as one of several forms for different devices.
void leave_out_newer_kernels(Context::Impl& impl) {
    const auto text = [](int capability) {
        return std::to_string(capability / 10) + '.' + std::to_string(capability % 10);
    };
    for (const DeviceBackend& other : impl.other_backends)
        std::erase_if(impl.kernels.kernels, [&](const Kernel& kernel) {
            if (kernel.device != other.device || (!kernel.code && !kernel.enqueue) || other.compute_capability == 0 ||
                kernel.compute_capability <= other.compute_capability)
                return false;
            impl.log(LogLevel::info, kernel.id + " needs compute capability " + text(kernel.compute_capability) +
                                         ", but device " + to_string(other.device) + " has " +
                                         text(other.compute_capability) + ": it is not used");
            return true;
        });
}

}  // namespace

Context make_context(ContextOptions options, std::vector<DeviceBackend> devices) {
    if (options.threads < 1)
        throw Error(ErrorKind::argument, "context",
                    "threads must be at least 1, got " + std::to_string(options.threads));
    if (const DeviceAllocator& given = options.device_allocator; !given.allocate != !given.release)
        throw Error(ErrorKind::argument, "context", "device_allocator needs both of its functions");
    const int threads = options.threads;
    auto impl = std::make_shared<Context::Impl>(std::move(options), device::cpu_backend(threads), std::move(devices));
    impl->features = features_in_use(impl->options, impl->cpu->features());
    KernelSet built_in = cpu_kernels();
    validate_kernels(impl->options.extra, built_in);
    append(impl->kernels, impl->options.extra);
    for (DeviceBackend& other : impl->other_backends) append(impl->kernels, std::move(other.kernels));
    append(impl->kernels, std::move(built_in));
    check_forms(*impl);
    leave_out_newer_kernels(*impl);
    if (impl->options.reference_only)
        std::erase_if(impl->kernels.kernels, [](const Kernel& kernel) { return !is_kept_reference_only(kernel); });
    impl->timings = std::make_unique<TimingDb>(
        impl->options.timing_db,
        [sink = impl->options.log](std::string_view line) {
            if (sink) sink(LogLevel::warning, line);
        },
        TimingDbOptions{impl->options.shipped_timings, impl->options.program});
    if (impl->cpu->oversubscribed())
        impl->log(LogLevel::warning, "more threads than CPUs: barriers block instead of spin");
    return Context(std::move(impl));
}

}  // namespace cairn::driver
