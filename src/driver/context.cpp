#include "cairn/context.hpp"

#include "cairn/kernels.hpp"
#include "device/context_impl.hpp"
#include "device/cpu/affinity.hpp"
#include "device/cpu/cpu_backend.hpp"
#include "driver/validate_kernels.hpp"
#include "graph/types/isa_levels.hpp"
#include "graph/types/knobs.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace cairn::inline v0 {
namespace {

#define CAIRN_TEXT_OF(x) #x
#define CAIRN_TEXT(x) CAIRN_TEXT_OF(x)
constexpr std::string_view version_text =
    CAIRN_TEXT(CAIRN_VERSION_MAJOR) "." CAIRN_TEXT(CAIRN_VERSION_MINOR) "." CAIRN_TEXT(CAIRN_VERSION_PATCH);
#undef CAIRN_TEXT
#undef CAIRN_TEXT_OF

template <typename T>
void append_moved(std::vector<T>& to, std::vector<T>&& from) {
    std::ranges::move(from, std::back_inserter(to));
}

void append(KernelSet& to, KernelSet from) {
    append_moved(to.definitions, std::move(from.definitions));
    append_moved(to.layouts, std::move(from.layouts));
    for (Kernel& kernel : from.kernels) append_moved(to.kernels, all_settings(std::move(kernel)));
    append_moved(to.devices, std::move(from.devices));
    if (!from.build.empty()) to.build += (to.build.empty() ? "" : "; ") + from.build;
}

/// The enabled features, of those that the CPU has.
FeatureSet features_in_use(const std::optional<FeatureSet>& requested, const FeatureSet& available) {
    if (!requested) return available;
    const auto refuse = [&](const std::string& fault) {
        throw Error(ErrorKind::argument, "context", "features " + to_string(*requested) + ": " + fault);
    };
    for (const Feature feature : all_features)
        if (const FeatureSet missing = implied_by(feature) - *requested; requested->has(feature) && !missing.empty())
            refuse(std::string(to_string(feature)) + " requires " + to_string(missing) + ", which is not among them");
    if (const FeatureSet lacking = *requested - available; !lacking.empty())
        refuse("this CPU lacks " + to_string(lacking) + ", it has " + to_string(available));
    return *requested;
}

/// Kernels of a Context that has reference kernels only.
bool is_kept_reference_only(const Kernel& kernel) { return is_reference(kernel.id) || kernel.definition == "pack"; }

}  // namespace

int usable_cpus() { return device::usable_cpus(); }
std::optional<double> cpu_quota() { return device::cgroup_quota(); }

std::string_view version() noexcept { return version_text; }

Context::Context(ContextOptions options) {
    if (options.threads < 1)
        throw Error(ErrorKind::argument, "context",
                    "threads must be at least 1, got " + std::to_string(options.threads));
    const int threads = options.threads;
    impl_ = std::make_shared<Impl>(std::move(options), device::cpu_backend(threads));
    impl_->features = features_in_use(impl_->options.features, impl_->cpu->features());
    KernelSet built_in = cpu_kernels();
    driver::validate_kernels(impl_->options.extra, built_in);
    append(impl_->kernels, impl_->options.extra);
    append(impl_->kernels, std::move(built_in));
    if (impl_->options.reference_only)
        std::erase_if(impl_->kernels.kernels, [](const Kernel& kernel) { return !is_kept_reference_only(kernel); });
    impl_->timings = std::make_unique<TimingDb>(
        impl_->options.timing_db,
        [sink = impl_->options.log](std::string_view line) {
            if (sink) sink(LogLevel::warning, line);
        },
        TimingDbOptions{impl_->options.shipped_timings, impl_->options.program});
    if (impl_->cpu->oversubscribed())
        impl_->log(LogLevel::warning, "more threads than CPUs: barriers block instead of spin");
}

const std::shared_ptr<Context::Impl>& Context::impl() const {
    if (impl_ == nullptr) throw Error(ErrorKind::argument, "context", "the handle is moved-from");
    return impl_;
}

int Context::threads() const { return impl()->cpu->threads(); }
FeatureSet Context::features() const { return impl()->features; }
const KernelSet& Context::kernels() const { return impl()->kernels; }

}  // namespace cairn::inline v0
