#include "accuracy/kernel_check/check_kernels.hpp"
#include "accuracy/kernel_check/check_target.hpp"
#include "accuracy/kernel_check/kernel_checker.hpp"
#include "accuracy/kernel_check/oracle.hpp"
#include "cairn/check.hpp"
#include "device/context_impl.hpp"
#include "graph/types/knobs.hpp"

#include <algorithm>
#include <map>
#include <memory>

namespace cairn::kernel_check {
namespace {

constexpr int max_threads = 3;

/// The targets of kernels, each made for the first of its kernels.
class CheckTargets {
public:
    CheckTarget& of(const KernelToCheck& request) {
        std::unique_ptr<CheckTarget>& target = targets_[request.backend];
        if (target == nullptr)
            target = request.backend == nullptr ? std::make_unique<CheckTarget>(max_threads)
                                                : std::make_unique<CheckTarget>(*request.backend);
        return *target;
    }

private:
    std::map<const device::Backend*, std::unique_ptr<CheckTarget>> targets_;
};

void check_can_run(const KernelToCheck& request, const CheckTarget& target) {
    const Kernel& kernel = request.kernel;
    if (kernel.run == nullptr && request.backend == nullptr && kernel.device != Device::cpu)
        throw Error(ErrorKind::unsupported, "check_kernel",
                    kernel.id + " needs the device " + to_string(kernel.device) +
                        ": it is checked by check_kernel(context, id), with a Context that has opened the device");
    const FeatureSet available = target.backend().features();
    if (!available.includes(kernel.needs))
        throw Error(
            ErrorKind::unsupported, "check_kernel",
            kernel.id + " needs " + to_string(kernel.needs - available) + ", this machine has " + to_string(available));
    if (const std::string refusal = target.backend().permit(kernel.needs); !refusal.empty())
        throw Error(ErrorKind::unsupported, "check_kernel", kernel.id + ": " + refusal);
}

}  // namespace

device::Backend* backend_of(const Kernel& kernel, const Context::Impl& context) {
    if (kernel.run != nullptr || kernel.device == Device::cpu) return nullptr;
    device::Backend* const backend = context.opened(kernel.device);
    if (backend == nullptr)
        throw Error(ErrorKind::unsupported, "check_kernel",
                    kernel.id + " runs on " + to_string(kernel.device) +
                        " alone, which this Context has not opened (ContextOptions::devices)");
    return backend;
}

KernelReport check_calls(const KernelToCheck& kernel, std::span<const ProblemCall> calls,
                         std::span<const Definition> definitions) {
    CheckTargets targets;
    check_can_run(kernel, targets.of(kernel));
    Oracle oracle(definitions);
    KernelChecker check(kernel, oracle, targets.of(kernel));
    check.check_on(calls);
    return check.report();
}

std::vector<KernelReport> check_kernels(std::span<const KernelToCheck> kernels,
                                        std::span<const Definition> definitions) {
    CheckTargets targets;
    for (const KernelToCheck& request : kernels) check_can_run(request, targets.of(request));
    Oracle oracle(definitions);
    std::vector<KernelChecker> checks;
    std::vector<std::string> samples;
    for (const KernelToCheck& request : kernels) {
        checks.emplace_back(request, oracle, targets.of(request)).need_samples();
        for (const std::string& sample : checks.back().samples())
            if (std::find(samples.begin(), samples.end(), sample) == samples.end()) samples.push_back(sample);
    }
    for (const std::string& sample : samples) {
        for (KernelChecker& check : checks)
            if (std::find(check.samples().begin(), check.samples().end(), sample) != check.samples().end())
                check.check_on(sample);
        oracle.forget();
    }
    std::vector<KernelReport> reports;
    for (const KernelChecker& check : checks) reports.push_back(check.report());
    return reports;
}

}  // namespace cairn::kernel_check

namespace cairn::inline v0 {
namespace {

KernelReport check_one(const Kernel& kernel, const Context& context, const CheckOptions& options) {
    const kernel_check::KernelToCheck request{kernel, options, kernel_check::backend_of(kernel, *context.impl()),
                                              &context.impl()->cpu->host_threads()};
    return kernel_check::check_kernels({&request, 1}, context.kernels().definitions).front();
}

}  // namespace

KernelReport check_kernel(const Kernel& kernel, std::span<const Definition> definitions, const CheckOptions& options) {
    const kernel_check::KernelToCheck request{kernel, options};
    return kernel_check::check_kernels({&request, 1}, definitions).front();
}

KernelReport check_kernel(const Context& context, std::string_view id, const CheckOptions& options) {
    for (const Kernel& kernel : context.kernels().kernels)
        if (kernel.id == id) return check_one(kernel, context, options);
    throw Error(ErrorKind::argument, "check_kernel", explain_unknown_id(id, context.kernels()));
}

std::vector<KernelReport> check_kernels(const Context& context, const CheckOptions& options) {
    std::vector<KernelReport> reports;
    for (const Kernel& kernel : context.kernels().kernels) {
        if (options.stop.stop_requested()) throw Cancelled("check_kernel");
        if (options.only_extra && !context.impl()->is_extra(kernel.id)) continue;
        try {
            reports.push_back(check_one(kernel, context, options));
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::unsupported) throw;
            reports.push_back({.faults = {}, .kernel = kernel.id, .not_checked = error.what()});
        }
    }
    return reports;
}

}  // namespace cairn::inline v0
