#include "cairn/check.hpp"
#include "check/distance.hpp"
#include "check/guarded_tensor.hpp"
#include "check/kernel_call.hpp"
#include "check/random_operand.hpp"
#include "check/tolerance.hpp"
#include "check/variation.hpp"
#include "device/cpu/cpu_features.hpp"
#include "device/cpu/thread_pool.hpp"
#include "ir/op_table.hpp"
#include "types/knobs.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <random>

namespace cairn::inline v0::check {
namespace {

constexpr std::size_t most_faults = 5;
constexpr int most_threads = 3;

/// Operands of a Problem as they are before each run: inputs written, outputs poison.
struct Operands {
    std::uint8_t poison;
    std::vector<GuardedTensor> inputs, outputs;
    std::vector<std::vector<std::uint8_t>> bits;  ///< of the inputs
};

Operands operands_of(const Problem& problem, const Expected& expected, std::uint8_t poison, int misalignment) {
    Operands operands{poison, {}, {}, {}};
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
        operands.inputs.emplace_back(problem.inputs[i], poison, misalignment);
        operands.inputs.back().write(expected.inputs[i]);
        operands.bits.push_back(operands.inputs.back().bits());
    }
    for (const TensorDesc& output : problem.outputs) operands.outputs.emplace_back(output, poison, misalignment);
    return operands;
}

/// One Problem with its sizes filled in, and what is right for it.
struct Trial {
    Trial(const Variation& tried, const std::vector<std::int64_t>& filled_in, Problem sized, Expected right)
        : variation(tried),
          sizes(filled_in),
          problem(std::move(sized)),
          expected(std::move(right)),
          aligned(operands_of(problem, expected, 0xff, 0)),
          misaligned(operands_of(problem, expected, 0x3b, 1)) {}

    const Variation& variation;
    const std::vector<std::int64_t>& sizes;
    Problem problem;
    Expected expected;
    Operands aligned, misaligned;
};

// What one run left behind.
struct Outcome {
    std::vector<GuardedTensor> outputs;
    std::vector<std::uint8_t> bits;
    std::string fault;
};

std::string broken_promise(double promised, const Distance& distance) {
    if (distance.counted() <= promised) return {};
    char text[120];
    std::snprintf(text, sizeof text, "relative error %.3g, largest %.3g, promised %.3g", distance.relative,
                  distance.largest, promised);
    return text;
}

class Check {
public:
    Check(const Kernel& kernel, std::span<const Definition> definitions, const CheckOptions& options)
        : kernel_(kernel), definitions_(definitions), options_(options) {
        for (int threads = 1; threads <= most_threads; ++threads)
            pools_.push_back(std::make_unique<device::ThreadPool>(threads));
    }

    KernelReport run() {
        if (kernel_.samples.empty()) fault("has no sample", {});
        for (const std::string& sample : kernel_.samples) {
            const auto symbols = Symbols::create();
            for (const Variation& variation : variations_of(kernel_, sample, symbols)) {
                ++report_.variations;
                const Refusal refusal = kernel_.accepts(variation.problem);
                if (!refusal.empty()) {
                    // A setting may be none for a sample.
                    if (!names_setting(kernel_.id)) fault("refuses its own sample: " + refusal, variation.problem);
                    continue;
                }
                try {
                    const std::size_t every = std::max<std::size_t>(options_.every, 1);
                    for (std::size_t i = 0; i < variation.sizes.size(); i += every)
                        at_sizes_of(variation, variation.sizes[i], i + every >= variation.sizes.size());
                } catch (const Error& error) {
                    if (error.kind() == ErrorKind::unsupported) throw;
                    fault(std::string("accepts what its definition refuses: ") + error.what(), variation.problem);
                }
            }
        }
        return report_;
    }

private:
    void fault(const std::string& text, const Problem& problem) {
        if (report_.faults.size() < most_faults)
            report_.faults.push_back(kernel_.id + " " + text + "\n  on " + to_string(problem));
    }

    // Repeated elements must be one value: what the operand holds after writing is what the oracle gets.
    std::vector<meaning::Value> settled(const Problem& problem, const std::vector<meaning::Value>& values) {
        std::vector<meaning::Value> result;
        for (std::size_t i = 0; i < values.size(); ++i) {
            GuardedTensor operand(problem.inputs[i], 0, 0);
            operand.write(values[i]);
            result.push_back(operand.read());
        }
        return result;
    }

    // Elementwise kernels meet special values everywhere, others at the last sizes of what moves nothing.
    void at_sizes_of(const Variation& variation, const std::vector<std::int64_t>& sizes, bool is_last) {
        const Problem problem = at_sizes(variation.problem, sizes);
        const auto op = ir::find_op(problem.definition);
        const bool is_elementwise = op && ir::info(*op).kind == ir::OpClass::elementwise;
        const bool is_plain = variation.what == "sample" || variation.what.starts_with("as ");
        for (const Special special : {Special::none, is_elementwise ? Special::many : Special::few}) {
            if (special == Special::few && !(is_last && is_plain)) break;
            std::vector<meaning::Value> inputs;
            for (std::size_t i = 0; i < problem.inputs.size(); ++i)
                inputs.push_back(random_operand(problem, i, special, special == Special::few ? special_ : random_));
            compare({variation, sizes, problem, expect(problem, definitions_, settled(problem, inputs))});
        }
        if (!kernel_.cost) return;
        const Cost cost = kernel_.cost(problem);
        if (!std::isfinite(cost.flops + cost.bytes) || cost.flops < 0 || cost.bytes < 0 || !(cost.efficiency > 0))
            fault("has a cost that is no number", problem);
    }

    void compare(const Trial& trial) {
        const Problem& problem = trial.problem;
        const Expected& expected = trial.expected;
        const double promised = kernel_.error ? kernel_.error(trial.variation.problem) : 0;
        if (!is_promise(promised)) return fault("promises an error that is none", problem);
        std::vector<std::vector<double>> allowed;
        for (std::size_t i = 0; i < problem.outputs.size() && promised == 0; ++i)
            allowed.push_back(allowed_errors(problem, definitions_, expected, i));
        std::vector<std::uint8_t> first_bits;
        for (int threads = 1; threads <= most_threads; ++threads) {
            const Outcome once = run_once(trial, threads, trial.aligned, {});
            ++report_.runs;
            const std::string place = " with " + std::to_string(threads) + " threads (" + trial.variation.what + ")";
            const auto expect_same = [&](const Outcome& other, const std::string& when) {
                if (!other.fault.empty()) fault(other.fault + when + place, problem);
                if (once.bits != other.bits) fault("gives other bits" + when + place, problem);
            };
            if (!once.fault.empty()) fault(once.fault + place, problem);
            expect_same(run_once(trial, threads, trial.misaligned, {}), " the second time");
            if (threads != 1) expect_same(run_once(trial, threads, trial.aligned, {}, 1), " when one thread runs it");
            const bool is_known = threads > 1 && once.bits == first_bits;
            if (threads == 1) first_bits = once.bits;
            if (options_.same_for_any_team && once.bits != first_bits)
                fault("gives other bits" + place + " than with one", problem);
            for (std::size_t i = 0; i < problem.outputs.size() && !is_known; ++i) {
                const meaning::Value value = once.outputs[i].read();
                const std::string difference = promised > 0
                                                   ? broken_promise(promised, distance(value, expected.outputs[i]))
                                                   : first_difference(value, expected.outputs[i], allowed[i]);
                if (!difference.empty())
                    fault("is wrong" + place + ": output " + std::to_string(i) + ", " + difference, problem);
            }
            run_in_place(trial, threads, once, place);
        }
    }

    void run_in_place(const Trial& trial, int threads, const Outcome& once, const std::string& place) {
        const Problem& problem = trial.problem;
        for (const InPlace& pair : kernel_.in_place) {
            const auto input = static_cast<std::size_t>(pair.input), output = static_cast<std::size_t>(pair.output);
            if (input >= problem.inputs.size() || output >= problem.outputs.size()) continue;
            TensorDesc from = problem.inputs[input], to = problem.outputs[output];
            from.bound = to.bound = false;
            if (!(from == to) || !from.layout.empty()) continue;
            ++report_.in_place;
            const Outcome outcome = run_once(trial, threads, trial.aligned, {pair});
            if (!outcome.fault.empty()) fault(outcome.fault + " in place" + place, problem);
            if (outcome.bits != once.bits)
                fault("gives other bits in place of input " + std::to_string(pair.input) + place, problem);
        }
    }

    // One run; `shared` names at most one output that lies in an input's memory. Prepared for `threads`, run by as many
    // or by `members`.
    Outcome run_once(const Trial& trial, int threads, const Operands& before, const std::vector<InPlace>& shared,
                     int members = 0) {
        std::vector<GuardedTensor> inputs = before.inputs, outputs = before.outputs;
        std::vector<TensorArg> in, out;
        for (GuardedTensor& operand : inputs) in.push_back(operand.argument());
        for (GuardedTensor& operand : outputs) out.push_back(operand.argument());
        for (const InPlace& pair : shared)
            out[static_cast<std::size_t>(pair.output)].data = in[static_cast<std::size_t>(pair.input)].data;

        Outcome outcome;
        device::ThreadPool& pool = *pools_[static_cast<std::size_t>((members == 0 ? threads : members) - 1)];
        outcome.fault = run_kernel(
            {kernel_, trial.variation.problem, trial.sizes, in, out, threads, before.poison, options_.heap_calls},
            pool);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (!inputs[i].gaps_untouched()) outcome.fault += " writes around input " + std::to_string(i);
            const bool is_shared = !shared.empty() && static_cast<std::size_t>(shared[0].input) == i;
            if (!is_shared && inputs[i].bits() != before.bits[i])
                outcome.fault += " changes input " + std::to_string(i);
        }
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (!outputs[i].gaps_untouched()) outcome.fault += " writes around output " + std::to_string(i);
            const bool is_shared = !shared.empty() && static_cast<std::size_t>(shared[0].output) == i;
            const GuardedTensor& place = is_shared ? inputs[static_cast<std::size_t>(shared[0].input)] : outputs[i];
            const auto bits = place.bits();
            outcome.bits.insert(outcome.bits.end(), bits.begin(), bits.end());
        }
        outcome.outputs = std::move(outputs);
        return outcome;
    }

    const Kernel& kernel_;
    std::span<const Definition> definitions_;
    const CheckOptions options_;
    std::vector<std::unique_ptr<device::ThreadPool>> pools_;
    std::mt19937_64 random_{20240229}, special_{20240301};
    KernelReport report_;
};

}  // namespace

}  // namespace cairn::inline v0::check

namespace cairn::inline v0 {

KernelReport check_kernel(const Kernel& kernel, std::span<const Definition> definitions, const CheckOptions& options) {
    if (const FeatureSet here = device::detect_features(); !here.includes(kernel.needs))
        throw Error(ErrorKind::unsupported, "check_kernel",
                    kernel.id + " needs " + to_string(kernel.needs - here) + ", this machine has " + to_string(here));
    return check::Check(settings_of(kernel).front(), definitions, options).run();
}

KernelReport check_kernel(const Context& context, std::string_view id, const CheckOptions& options) {
    for (const Kernel& kernel : context.kernels().kernels)
        if (kernel.id == id) return check_kernel(kernel, context.kernels().definitions, options);
    throw Error(ErrorKind::argument, "check_kernel", why_unknown(id, context.kernels()));
}

}  // namespace cairn::inline v0
