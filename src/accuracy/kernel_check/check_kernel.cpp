#include "accuracy/kernel_check/check_kernels.hpp"
#include "accuracy/kernel_check/kernel_error.hpp"
#include "accuracy/kernel_check/oracle.hpp"
#include "accuracy/kernel_check/problem_variations.hpp"
#include "accuracy/kernel_check/run_kernel.hpp"
#include "accuracy/kernel_check/tolerance.hpp"
#include "accuracy/metric/float_limits.hpp"
#include "cairn/check.hpp"
#include "device/context_impl.hpp"
#include "device/cpu/cpu_backend.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/types/knobs.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace cairn::kernel_check {
namespace {

constexpr std::size_t max_faults = 5;
constexpr int max_threads = 3;

/// One Problem at given sizes, with its correct results.
struct TestCase {
    const Variation& variation;
    const std::vector<std::int64_t>& sizes;
    const Problem& problem;
    ReferenceCase& reference_case;
};

// Results of one run.
struct RunResult {
    std::vector<GuardedTensor> outputs;
    std::vector<std::uint8_t> bits;
    std::string fault;
};

std::string error_bound_violation(double error_bound, const ErrorNorms& error_norms) {
    if (error_norms.combined() <= error_bound) return {};
    char text[120];
    std::snprintf(text, sizeof text, "relative error %.3g, largest %.3g, stated %.3g", error_norms.relative,
                  error_norms.largest, error_bound);
    return text;
}

// Checks one kernel and collects its report.
class KernelChecker {
public:
    /// The CPU with 1, 2, .. max_threads threads.
    using Backends = std::vector<std::unique_ptr<device::CpuBackend>>;

    KernelChecker(const KernelToCheck& request, Oracle& oracle, const Backends& backends)
        : kernel_(at_default_setting(request.kernel)), options_(request.options), oracle_(oracle), backends_(backends) {
        report_.kernel = kernel_.id;
    }

    const std::vector<std::string>& samples() const { return kernel_.samples; }
    const KernelReport& report() const { return report_; }

    void need_samples() {
        if (kernel_.samples.empty()) fault("has no sample", {});
    }

    void check_on(const std::string& sample) {
        for (const Variation& variation : variations_of(kernel_, sample, Symbols::create())) {
            // A setting need not support every sample.
            ++report_.variations;
            if (const Refusal refusal = kernel_.accepts(variation.problem); !refusal.empty()) {
                if (!has_setting_suffix(kernel_.id)) fault("refuses its own sample: " + refusal, variation.problem);
                continue;
            }
            check_range(variation);
            if (const std::string refusal = check_on(variation); !refusal.empty())
                fault("accepts what its definition refuses: " + refusal, variation.problem);
        }
    }

    void check_on(const ProblemCall& call) {
        ++report_.variations;
        if (const std::string refusal = check_on(Variation{"as the program calls it", call.problem, call.sizes});
            !refusal.empty())
            report_.not_checked = refusal + " on " + to_string(call.problem);
    }

private:
    /// Checks a variation. Returns why the definition rejects the Problem or its operands; empty if it accepts them.
    std::string check_on(const Variation& variation) {
        try {
            const std::size_t size_stride = std::max<std::size_t>(options_.size_stride, 1),
                              count = variation.sizes.size();
            // The last sizes are never left out: the first are the smallest.
            for (std::size_t i = (count - 1) % size_stride; i < count; i += size_stride) {
                if (options_.stop.stop_requested()) throw Cancelled("check_kernel");
                check_at_sizes(variation, variation.sizes[i], i + 1 == count);
            }
        } catch (const Error& error) {
            if (error.kind() == ErrorKind::unsupported || error.kind() == ErrorKind::cancelled) throw;
            return error.what();
        }
        return {};
    }

    void fault(const std::string& text, const Problem& problem, const std::string& at = {}) {
        if (report_.faults.size() < max_faults)
            report_.faults.push_back(kernel_.id + " " + text + "\n  on " + to_string(problem) +
                                     (at.empty() ? "" : "\n  at " + at));
    }

    // A kernel that accepts a range of sizes must accept each size within it: programs run and measure at these sizes.
    void check_range(const Variation& variation) {
        if (symbols_of(variation.problem) == nullptr) return;
        for (const std::vector<std::int64_t>& sizes : sizes_within(variation)) {
            const Problem sized = at_sizes(variation.problem, sizes);
            if (const Refusal refusal = kernel_.accepts(sized); !refusal.empty())
                return fault("accepts a range and refuses a size within it: " + refusal, variation.problem,
                             to_string(sized));
        }
        try {
            for (const std::vector<std::int64_t>& sizes : variation.sizes) prepare_at(variation, sizes);
        } catch (const std::exception& error) {
            fault(std::string("accepts a range and cannot be prepared at a size within it: ") + error.what(),
                  variation.problem);
        }
    }
    void prepare_at(const Variation& variation, const std::vector<std::int64_t>& sizes) {
        const Problem sized = at_sizes(variation.problem, sizes);
        for (int threads = 1; threads <= max_threads; ++threads) {
            if (kernel_.workspace && !provably_le(0, kernel_.workspace(sized, threads)))
                fault("accepts a range and has no workspace at a size within it", variation.problem, to_string(sized));
            if (kernel_.prepare) kernel_.prepare(sized, threads);
        }
    }

    // Elementwise kernels are checked with special values at all sizes, others at the last sizes of plain variations.
    void check_at_sizes(const Variation& variation, const std::vector<std::int64_t>& sizes, bool is_last) {
        const Problem problem = at_sizes(variation.problem, sizes);
        const auto op = ir::find_op(problem.definition);
        const bool is_elementwise = op && ir::info(*op).kind == ir::OpClass::elementwise;
        const bool is_plain = variation.what == "sample" || variation.what.starts_with("as ");
        for (const SpecialValues special :
             {SpecialValues::none, is_elementwise ? SpecialValues::many : SpecialValues::few}) {
            if (special == SpecialValues::few && !(is_last && is_plain)) break;
            compare({variation, sizes, problem, oracle_.reference_case(problem, special)});
        }
        if (!kernel_.cost) return;
        const Cost cost = kernel_.cost(problem);
        if (!std::isfinite(cost.flops + cost.bytes) || cost.flops < 0 || cost.bytes < 0 || !(cost.efficiency > 0))
            fault("has an invalid cost", problem);
    }

    void compare(const TestCase& test_case) {
        const Problem& problem = test_case.problem;
        const double error_bound = kernel_.error ? kernel_.error(test_case.variation.problem) : 0;
        if (!accuracy::is_valid_error_bound(error_bound)) return fault("states an invalid error bound", problem);
        std::vector<std::uint8_t> first_bits;
        for (int threads = 1; threads <= max_threads; ++threads) {
            const bool expects_same_bits = threads > 1 && options_.same_for_any_team, is_most = threads == max_threads;
            const RunResult once = run_once(
                test_case, threads,
                expects_same_bits && is_most ? test_case.reference_case.misaligned : test_case.reference_case.aligned,
                {});
            ++report_.runs;
            const std::string place =
                " with " + std::to_string(threads) + " threads (" + test_case.variation.what + ")";
            const auto expect_same = [&](const RunResult& other, const std::string& when) {
                if (!other.fault.empty()) fault(other.fault + when + place, problem);
                if (once.bits != other.bits) fault("gives different bits" + when + place, problem);
            };
            if (!once.fault.empty()) fault(once.fault + place, problem);
            if (!expects_same_bits)
                expect_same(run_once(test_case, threads, test_case.reference_case.misaligned, {}), " the second time");
            if (is_most || (threads > 1 && !expects_same_bits))
                expect_same(run_once(test_case, threads, test_case.reference_case.aligned, {}, 1),
                            " when one thread runs it");
            if (threads == 1) first_bits = once.bits;
            const bool is_verified = threads > 1 && once.bits == first_bits;
            if (expects_same_bits && !is_verified) fault("gives different bits" + place + " than with one", problem);
            for (std::size_t i = 0; i < problem.outputs.size() && !is_verified; ++i) {
                const interpreter::Value value = once.outputs[i].read();
                const interpreter::Value& right = test_case.reference_case.expected.outputs[i];
                const std::string difference = error_bound > 0
                                                   ? error_bound_violation(error_bound, error_norms(value, right))
                                                   : difference_beyond_roundoff(test_case, value, i);
                if (!difference.empty())
                    fault("is wrong" + place + ": output " + std::to_string(i) + ", " + difference, problem);
            }
            run_in_place(test_case, threads, once, place);
        }
    }

    std::string difference_beyond_roundoff(const TestCase& test_case, const interpreter::Value& value, std::size_t i) {
        const Problem& problem = test_case.problem;
        const interpreter::Value& right = test_case.reference_case.expected.outputs[i];
        const std::string difference =
            first_difference(value, right, oracle_.allowed(problem, test_case.reference_case, i));
        if (difference.empty() || ir::find_op(problem.definition).has_value()) return difference;
        return first_difference(value, right, oracle_.allowed_with_roundoff(problem, test_case.reference_case, i));
    }

    void run_in_place(const TestCase& test_case, int threads, const RunResult& once, const std::string& place) {
        const Problem& problem = test_case.problem;
        for (const InPlace& pair : kernel_.in_place) {
            const auto input = static_cast<std::size_t>(pair.input), output = static_cast<std::size_t>(pair.output);
            if (input >= problem.inputs.size() || output >= problem.outputs.size()) continue;
            TensorDesc from = problem.inputs[input], to = problem.outputs[output];
            from.bound = to.bound = false;
            if (!(from == to) || !from.layout.empty()) continue;
            ++report_.in_place;
            const RunResult outcome = run_once(test_case, threads, test_case.reference_case.aligned, {pair});
            if (!outcome.fault.empty()) fault(outcome.fault + " in place" + place, problem);
            if (outcome.bits != once.bits)
                fault("gives different bits in place of input " + std::to_string(pair.input) + place, problem);
        }
    }

    // One run. `shared` has at most one pair, of an output that uses an input's memory. Prepared for `threads`, run by
    // as many or by `members`.
    RunResult run_once(const TestCase& test_case, int threads, const Operands& before,
                       const std::vector<InPlace>& shared, int members = 0) {
        std::vector<GuardedTensor> inputs = before.inputs, outputs = before.outputs;
        std::vector<TensorArg> in, out;
        for (GuardedTensor& operand : inputs) in.push_back(operand.argument());
        for (GuardedTensor& operand : outputs) out.push_back(operand.argument());
        for (const InPlace& pair : shared)
            out[static_cast<std::size_t>(pair.output)].data = in[static_cast<std::size_t>(pair.input)].data;

        RunResult outcome;
        device::Backend& backend = *backends_[static_cast<std::size_t>((members == 0 ? threads : members) - 1)];
        outcome.fault = run_kernel({kernel_, test_case.variation.problem, test_case.sizes, in, out, threads,
                                    before.poison, options_.heap_calls},
                                   backend);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (!inputs[i].guards_intact()) outcome.fault += " writes around input " + std::to_string(i);
            const bool is_shared = !shared.empty() && static_cast<std::size_t>(shared[0].input) == i;
            if (!is_shared && inputs[i].bits() != before.bits[i])
                outcome.fault += " changes input " + std::to_string(i);
        }
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (!outputs[i].guards_intact()) outcome.fault += " writes around output " + std::to_string(i);
            const bool is_shared = !shared.empty() && static_cast<std::size_t>(shared[0].output) == i;
            const GuardedTensor& place = is_shared ? inputs[static_cast<std::size_t>(shared[0].input)] : outputs[i];
            const auto bits = place.bits();
            outcome.bits.insert(outcome.bits.end(), bits.begin(), bits.end());
        }
        outcome.outputs = std::move(outputs);
        return outcome;
    }

    const Kernel kernel_;
    const CheckOptions options_;
    Oracle& oracle_;
    const Backends& backends_;
    KernelReport report_;
};

void need_features(const Kernel& kernel, const device::Backend& backend) {
    if (kernel.run == nullptr && kernel.device != Device::cpu)
        throw Error(ErrorKind::unsupported, "check_kernel",
                    kernel.id + " runs on " + to_string(kernel.device) + " alone, where it cannot be checked yet");
    const FeatureSet available = backend.features();
    if (!available.includes(kernel.needs))
        throw Error(
            ErrorKind::unsupported, "check_kernel",
            kernel.id + " needs " + to_string(kernel.needs - available) + ", this machine has " + to_string(available));
}

KernelChecker::Backends make_backends() {
    KernelChecker::Backends backends;
    for (int threads = 1; threads <= max_threads; ++threads) backends.push_back(device::cpu_backend(threads));
    return backends;
}

}  // namespace

KernelReport check_calls(const KernelToCheck& kernel, std::span<const ProblemCall> calls,
                         std::span<const Definition> definitions) {
    const KernelChecker::Backends backends = make_backends();
    need_features(kernel.kernel, *backends.front());
    Oracle oracle(definitions);
    KernelChecker check(kernel, oracle, backends);
    for (const ProblemCall& call : calls) {
        check.check_on(call);
        oracle.forget();
    }
    return check.report();
}

std::vector<KernelReport> check_kernels(std::span<const KernelToCheck> kernels,
                                        std::span<const Definition> definitions) {
    const KernelChecker::Backends backends = make_backends();
    for (const KernelToCheck& request : kernels) need_features(request.kernel, *backends.front());
    Oracle oracle(definitions);
    std::vector<KernelChecker> checks;
    std::vector<std::string> samples;
    for (const KernelToCheck& request : kernels) {
        checks.emplace_back(request, oracle, backends).need_samples();
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

KernelReport check_kernel(const Kernel& kernel, std::span<const Definition> definitions, const CheckOptions& options) {
    const kernel_check::KernelToCheck request{kernel, options};
    return kernel_check::check_kernels({&request, 1}, definitions).front();
}

KernelReport check_kernel(const Context& context, std::string_view id, const CheckOptions& options) {
    for (const Kernel& kernel : context.kernels().kernels)
        if (kernel.id == id) return check_kernel(kernel, context.kernels().definitions, options);
    throw Error(ErrorKind::argument, "check_kernel", explain_unknown_id(id, context.kernels()));
}

std::vector<KernelReport> check_kernels(const Context& context, const CheckOptions& options) {
    std::vector<KernelReport> reports;
    for (const Kernel& kernel : context.kernels().kernels) {
        if (options.stop.stop_requested()) throw Cancelled("check_kernel");
        if (options.only_extra && !context.impl()->is_extra(kernel.id)) continue;
        try {
            reports.push_back(check_kernel(kernel, context.kernels().definitions, options));
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::unsupported) throw;
            reports.push_back({.faults = {}, .kernel = kernel.id, .not_checked = error.what()});
        }
    }
    return reports;
}

}  // namespace cairn::inline v0
