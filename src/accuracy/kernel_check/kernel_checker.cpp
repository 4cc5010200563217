#include "accuracy/kernel_check/kernel_checker.hpp"

#include "accuracy/kernel_check/kernel_error.hpp"
#include "accuracy/kernel_check/tolerance.hpp"
#include "accuracy/metric/float_limits.hpp"
#include "graph/ir/index_limits.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/types/knobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iterator>
#include <limits>

namespace cairn::kernel_check {
namespace {

constexpr std::size_t max_faults = 5;

// Limits of CUDA.
constexpr int max_block = 1024;
constexpr std::int64_t max_grid[] = {std::numeric_limits<std::int32_t>::max(), 65535, 65535};

/// The results as in the reference where neither is finite: an infinite operand times a factor near 0, which an inexact
/// kernel may compute with either sign, or as 0, whose product is NaN.
interpreter::Value with_infinities_of(interpreter::Value results, const interpreter::Value& reference) {
    for (std::size_t i = 0; i < results.data.size(); ++i)
        if (!std::isfinite(results.data[i]) && !std::isfinite(reference.data[i])) results.data[i] = reference.data[i];
    return results;
}

std::string error_bound_violation(double error_bound, const ErrorNorms& error_norms) {
    if (error_norms.combined() <= error_bound) return {};
    char text[120];
    std::snprintf(text, sizeof text, "relative error %.3g, largest %.3g, stated %.3g", error_norms.relative,
                  error_norms.largest, error_bound);
    return text;
}

/// The device of the check is lost, and the report says why.
struct DeviceLost {};

bool is_plain(const Variation& variation) { return variation.what == "sample" || variation.what.starts_with("as "); }

bool can_hold(DType dtype, std::int64_t value) {
    switch (dtype) {
        case DType::i64: return true;
        case DType::i32: return value >= INT32_MIN && value <= INT32_MAX;
        case DType::i8: return value >= -128 && value <= 127;
        case DType::u8: return value >= 0 && value <= 255;
        default: return false;
    }
}

}  // namespace

/// One Problem at given sizes, with its correct results.
struct KernelChecker::TestCase {
    const Variation& variation;
    const std::vector<std::int64_t>& sizes;
    const Problem& problem;
    ReferenceCase& reference_case;
};

/// Results of one run.
struct KernelChecker::RunResult {
    std::vector<GuardedTensor> outputs;
    std::vector<std::uint8_t> bits;
    std::string fault;
    std::optional<device::Failure> failure;

    /// The fault; a failure that the kernel reports is one, too.
    std::string whole_fault() const { return failure ? fault + " fails: " + failure->reason : fault; }
};

KernelChecker::KernelChecker(const KernelToCheck& request, Oracle& oracle, CheckTarget& target)
    : kernel_(at_default_setting(request.kernel)),
      options_(request.options),
      oracle_(oracle),
      target_(target),
      threads_(request.threads) {
    report_.kernel = kernel_.id;
}

void KernelChecker::fault(const std::string& text, const Problem& problem, const std::string& at) {
    if (report_.faults.size() < max_faults)
        report_.faults.push_back(kernel_.id + " " + text + "\n  on " + to_string(problem) +
                                 (at.empty() ? "" : "\n  at " + at));
}

void KernelChecker::need_samples() {
    if (kernel_.samples.empty()) fault("has no sample", {});
}

void KernelChecker::check_on(const std::string& sample) {
    if (variations_.empty()) {
        compile_samples();
        report_.not_checked = missing_library();
    }
    if (!report_.not_checked.empty()) return;
    try {
        for (const Variation& variation : variations_.at(sample)) {
            // A setting need not support every sample.
            if (const Refusal refusal = kernel_.accepts(variation.problem); !refusal.empty()) {
                ++report_.variations;
                if (!has_setting_suffix(kernel_.id)) fault("refuses its own sample: " + refusal, variation.problem);
                continue;
            }
            check_range(variation);
            check_variation(variation);
        }
    } catch (const DeviceLost&) {}
}

std::string KernelChecker::missing_library() const {
    if (!kernel_.enqueue) return {};
    std::string reason;
    for (const auto& [sample, variations] : variations_) {
        const Refusal refusal = kernel_.accepts(variations.front().problem);
        if (refusal.empty() || (!reason.empty() && refusal != reason)) return {};
        reason = refusal;
    }
    return reason;
}

void KernelChecker::check_on(std::span<const ProblemCall> calls) {
    std::vector<Variation>& variations = variations_[{}];
    for (const ProblemCall& call : calls) variations.push_back({"as the program calls it", call.problem, call.sizes});
    std::vector<const Variation*> all;
    for (const Variation& variation : variations) all.push_back(&variation);
    compile(all);
    try {
        for (const Variation& variation : variations) {
            if (kernel_.code && !has_code(variation)) continue;
            ++report_.variations;
            if (const std::string refusal = check_at_all_sizes(variation); !refusal.empty())
                report_.not_checked = refusal + " on " + to_string(variation.problem);
            oracle_.forget();
        }
    } catch (const DeviceLost&) {}
}

void KernelChecker::compile_samples() {
    std::vector<const Variation*> all;
    for (const std::string& sample : kernel_.samples) {
        const auto [it, is_new] = variations_.try_emplace(sample);
        if (!is_new) continue;
        it->second = variations_of(kernel_, sample, Symbols::create());
        for (const Variation& variation : it->second)
            if (kernel_.code && kernel_.accepts(variation.problem).empty()) all.push_back(&variation);
    }
    compile(all);
}

void KernelChecker::compile(std::span<const Variation* const> variations) {
    if (!kernel_.code) return;
    std::vector<device::KernelToCompile> calls;
    for (const Variation* variation : variations) calls.push_back({&kernel_, &variation->problem});
    std::vector<device::CompiledKernel> compiled = device::compile_kernels(calls, target_.backend(), threads_);
    for (std::size_t i = 0; i < calls.size(); ++i) codes_[variations[i]] = std::move(compiled[i]);
}

bool KernelChecker::has_code(const Variation& variation) {
    const device::CompiledKernel& compiled = codes_.at(&variation);
    if (!compiled.fault) {
        check_code(variation);
        return true;
    }
    std::string why = "it threw an exception that is not a std::exception";
    try {
        std::rethrow_exception(compiled.fault);
    } catch (const std::exception& error) { why = error.what(); } catch (...) {
    }
    fault("has no code: " + why, variation.problem);
    return false;
}

/// What programs assume of a text and of its launch.
void KernelChecker::check_code(const Variation& variation) {
    const KernelCode code = kernel_.code(variation.problem), again = kernel_.code(variation.problem);
    if (code.text != again.text || code.entry != again.entry)
        return fault("gives equal Problems different texts", variation.problem);
    if (texts_.try_emplace(code.entry, code.text).first->second != code.text)
        fault("gives different texts one entry, `" + code.entry + "`: no program could have both", variation.problem);
    if (code.block < 1 || code.block > max_block || code.cluster < 1 || code.grid.empty() ||
        code.grid.size() > std::size(max_grid))
        return fault("has a block, a cluster or a grid that cannot be launched", variation.problem);
    for (const std::vector<std::int64_t>& sizes : variation.sizes) check_launch(code, variation, sizes);
}

void KernelChecker::check_launch(const KernelCode& code, const Variation& variation,
                                 const std::vector<std::int64_t>& sizes) {
    for (std::size_t axis = 0; axis < code.grid.size(); ++axis) {
        const std::int64_t blocks = code.grid[axis].evaluate(sizes);
        const bool is_whole = axis > 0 || blocks % code.cluster == 0;
        if (blocks >= 0 && blocks <= max_grid[axis] && is_whole) continue;
        fault("has a grid of " + std::to_string(blocks) + " blocks along axis " + std::to_string(axis) +
                  ", which cannot be launched",
              variation.problem, to_string(at_sizes(variation.problem, sizes)));
    }
    // The launch has the bytes of the upper bound.
    const std::int64_t shared_bytes = code.shared_bytes.evaluate(sizes);
    if (shared_bytes < 0 || shared_bytes > code.shared_bytes.upper_bound())
        fault("needs " + std::to_string(shared_bytes) + " bytes of shared memory", variation.problem,
              to_string(at_sizes(variation.problem, sizes)));
}

/// Checks a variation of a sample.
void KernelChecker::check_variation(const Variation& variation) {
    ++report_.variations;
    if (kernel_.code && !has_code(variation)) return;
    if (const std::string refusal = check_at_all_sizes(variation); !refusal.empty())
        fault("accepts what its definition refuses: " + refusal, variation.problem);
}

/// Returns why the definition rejects the Problem or its operands; empty if it accepts them.
std::string KernelChecker::check_at_all_sizes(const Variation& variation) {
    const std::size_t size_stride = std::max<std::size_t>(options_.size_stride, 1), count = variation.sizes.size();
    // The last sizes are never left out: the first are the smallest.
    for (std::size_t i = (count - 1) % size_stride; i < count; i += size_stride) {
        if (options_.stop.stop_requested()) throw Cancelled("check_kernel");
        if (const std::string refusal = check_at_sizes(variation, variation.sizes[i], i + 1 == count); !refusal.empty())
            return refusal;
    }
    return {};
}

/// A kernel that accepts a range of sizes must accept each size within it: programs run and measure at these sizes.
void KernelChecker::check_range(const Variation& variation) {
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

void KernelChecker::prepare_at(const Variation& variation, const std::vector<std::int64_t>& sizes) {
    const Problem sized = at_sizes(variation.problem, sizes);
    for (int threads = 1; threads <= target_.max_threads(); ++threads) {
        if (kernel_.workspace && !provably_le(0, kernel_.workspace(sized, threads)))
            fault("accepts a range and has no workspace at a size within it", variation.problem, to_string(sized));
        if (kernel_.prepare) kernel_.prepare(sized, threads);
    }
    if (kernel_.code) (void)kernel_.code(sized);
}

/// Elementwise kernels are checked with special values at all sizes, others at the last sizes of plain variations.
std::string KernelChecker::check_at_sizes(const Variation& variation, const std::vector<std::int64_t>& sizes,
                                          bool is_last) {
    const Problem problem = at_sizes(variation.problem, sizes);
    const auto op = ir::find_op(problem.definition);
    const bool is_elementwise = op && ir::info(*op).kind == ir::OpClass::elementwise;
    const bool is_last_plain = is_last && is_plain(variation);
    for (const SpecialValues special :
         {SpecialValues::none, is_elementwise ? SpecialValues::many : SpecialValues::few}) {
        if (special == SpecialValues::few && !is_last_plain) break;
        ReferenceCase* reference_case = nullptr;
        try {
            reference_case = &oracle_.reference_case(problem, special);
        } catch (const Error& error) {
            if (error.kind() == ErrorKind::unsupported || error.kind() == ErrorKind::cancelled) throw;
            return error.what();
        }
        const TestCase test_case{variation, sizes, problem, *reference_case};
        compare(test_case);
        if (special == SpecialValues::none && is_last_plain) check_indices(test_case);
    }
    check_cost(problem);
    return {};
}

void KernelChecker::check_cost(const Problem& problem) {
    if (!kernel_.cost) return;
    const Cost cost = kernel_.cost(problem);
    if (!std::isfinite(cost.flops + cost.bytes + cost.steps) || cost.flops < 0 || cost.bytes < 0 || cost.steps < 0 ||
        !(cost.efficiency > 0))
        fault("has an invalid cost", problem);
}

void KernelChecker::compare(const TestCase& test_case) {
    const Problem& problem = test_case.problem;
    const double error_bound = kernel_.error ? kernel_.error(test_case.variation.problem) : 0;
    if (!accuracy::is_valid_error_bound(error_bound)) return fault("states an invalid error bound", problem);
    const Operands &aligned = test_case.reference_case.aligned, &misaligned = test_case.reference_case.misaligned;
    std::vector<std::uint8_t> first_bits;
    for (int threads = 1; threads <= target_.max_threads(); ++threads) {
        const bool expects_same_bits = threads > 1 && options_.same_for_any_team,
                   is_most = threads == target_.max_threads();
        const RunResult once = run_once(test_case, threads, expects_same_bits && is_most ? misaligned : aligned);
        ++report_.runs;
        const std::string place = (target_.is_cpu() ? " with " + std::to_string(threads) + " threads (" : " (") +
                                  test_case.variation.what + ")";
        const auto expect_same = [&](const RunResult& other, const std::string& when) {
            if (const std::string text = other.whole_fault(); !text.empty()) fault(text + when + place, problem);
            if (once.bits != other.bits) fault("gives different bits" + when + place, problem);
        };
        if (const std::string text = once.whole_fault(); !text.empty()) fault(text + place, problem);
        if (kernel_.enqueue)
            compare_misaligned(test_case, threads, error_bound, place);
        else if (!expects_same_bits)
            expect_same(run_once(test_case, threads, misaligned), " the second time");
        if (is_most || (threads > 1 && !expects_same_bits))
            expect_same(run_once(test_case, threads, aligned, {}, 1),
                        target_.is_cpu() ? " when one thread runs it" : " the third time");
        if (threads == 1) first_bits = once.bits;
        const bool is_verified = threads > 1 && once.bits == first_bits;
        if (expects_same_bits && !is_verified) fault("gives different bits" + place + " than with one", problem);
        if (!is_verified) compare_with_definition(test_case, once, error_bound, place);
        run_in_place(test_case, threads, once, place);
    }
}

/// Which algorithm a library takes may depend on the alignment of operands, and with it the bits.
void KernelChecker::compare_misaligned(const TestCase& test_case, int threads, double error_bound,
                                       const std::string& place) {
    const RunResult result = run_once(test_case, threads, test_case.reference_case.misaligned);
    const std::string where = " with another alignment" + place;
    if (const std::string text = result.whole_fault(); !text.empty()) return fault(text + where, test_case.problem);
    compare_with_definition(test_case, result, error_bound, where);
}

void KernelChecker::compare_with_definition(const TestCase& test_case, const RunResult& once, double error_bound,
                                            const std::string& place) {
    for (std::size_t i = 0; i < test_case.problem.outputs.size(); ++i) {
        const interpreter::Value& right = test_case.reference_case.expected.outputs[i];
        const interpreter::Value value = once.outputs[i].read_comparable(right);
        const std::string difference =
            error_bound > 0 ? error_bound_violation(error_bound, error_norms(with_infinities_of(value, right), right))
                            : difference_beyond_roundoff(test_case, value, i);
        if (!difference.empty())
            fault("is wrong" + place + ": output " + std::to_string(i) + ", " + difference, test_case.problem);
    }
}

std::string KernelChecker::difference_beyond_roundoff(const TestCase& test_case, const interpreter::Value& value,
                                                      std::size_t i) {
    const Problem& problem = test_case.problem;
    const interpreter::Value& right = test_case.reference_case.expected.outputs[i];
    const std::string difference =
        first_difference(value, right, oracle_.allowed(problem, test_case.reference_case, i));
    if (difference.empty() || ir::find_op(problem.definition).has_value()) return difference;
    return first_difference(value, right, oracle_.allowed_with_roundoff(problem, test_case.reference_case, i));
}

void KernelChecker::run_in_place(const TestCase& test_case, int threads, const RunResult& once,
                                 const std::string& place) {
    const Problem& problem = test_case.problem;
    for (const InPlace& pair : kernel_.in_place) {
        const auto input = static_cast<std::size_t>(pair.input), output = static_cast<std::size_t>(pair.output);
        if (input >= problem.inputs.size() || output >= problem.outputs.size()) continue;
        TensorDesc from = problem.inputs[input], to = problem.outputs[output];
        from.bound = to.bound = false;
        if (!(from == to) || !from.layout.empty()) continue;
        ++report_.in_place;
        const RunResult result = run_once(test_case, threads, test_case.reference_case.aligned, pair);
        if (const std::string text = result.whole_fault(); !text.empty()) fault(text + " in place" + place, problem);
        if (result.bits != once.bits)
            fault("gives different bits in place of input " + std::to_string(pair.input) + place, problem);
    }
}

/// Where the definition refuses an index that is out of range, the kernel must report it.
void KernelChecker::check_indices(const TestCase& test_case) {
    const auto limits = ir::index_limits(test_case.problem, oracle_.definitions());
    for (std::size_t i = 0; i < limits.size(); ++i) {
        if (!limits[i]) continue;
        for (const std::int64_t index : {*limits[i], std::int64_t{-1}})
            if (can_hold(test_case.problem.inputs[i].dtype, index)) check_index(test_case, i, index);
    }
}

void KernelChecker::check_index(const TestCase& test_case, std::size_t input, std::int64_t index) {
    const Problem& problem = test_case.problem;
    std::vector<interpreter::Value> values = test_case.reference_case.expected.inputs;
    const std::vector<interpreter::Value>& outputs = test_case.reference_case.expected.outputs;
    // A kernel need not read the indices of results without elements.
    if (values[input].integers.empty() ||
        std::ranges::all_of(outputs, [](const auto& output) { return output.size() == 0; }))
        return;
    Operands before = test_case.reference_case.aligned;
    values[input].integers[values[input].integers.size() / 2] = index;
    before.inputs[input].write(values[input]);
    // Of elements in the same memory, the last one written counts.
    values[input] = before.inputs[input].read();
    before.bits[input] = before.inputs[input].bits();
    try {
        (void)evaluate_definition(problem, oracle_.definitions(), values);
        return;
    } catch (const InternalError&) { throw; } catch (const Error&) {
    }
    const RunResult result = run_once(test_case, target_.max_threads(), before);
    const std::string where = ": input " + std::to_string(input) + " has " + std::to_string(index);
    if (!result.fault.empty()) fault(result.fault + " with an index out of range" + where, problem);
    if (!result.failure) return fault("does not report an index out of range" + where, problem);
    if (result.failure->input < 0) return;  // it does not say where
    const auto position = static_cast<std::size_t>(result.failure->position);
    const std::vector<std::int64_t>& indices = values[input].integers;
    if (result.failure->input != static_cast<int>(input) || result.failure->value != index ||
        position >= indices.size() || indices[position] != index)
        fault("reports a wrong place for an index out of range" + where + ", it says that element " +
                  std::to_string(result.failure->position) + " of input " + std::to_string(result.failure->input) +
                  " is " + std::to_string(result.failure->value),
              problem);
}

/// One run, prepared for `threads`, by as many threads or by `members`.
KernelChecker::RunResult KernelChecker::run_once(const TestCase& test_case, int threads, const Operands& before,
                                                 std::optional<InPlace> in_place, int members) {
    if (target_.backend().is_lost() && !report_.faults.empty()) throw DeviceLost();
    std::vector<GuardedTensor> inputs = before.inputs, outputs = before.outputs;
    KernelCall call{kernel_, test_case.variation.problem, test_case.sizes, inputs, outputs};
    call.in_place = in_place;
    if (kernel_.code) call.compiled = &codes_.at(&test_case.variation);
    call.threads = threads;
    call.poison = before.poison;
    call.heap_calls = options_.heap_calls;
    RunOutcome outcome;
    try {
        outcome = target_.runner(members == 0 ? threads : members).run(call);
    } catch (const std::exception& error) {
        if (kernel_.run == nullptr) throw;  // of the device
        outcome.fault = std::string(" throws: ") + error.what();
    }
    RunResult result;
    result.fault = outcome.fault;
    result.failure = outcome.failure;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].guards_intact()) result.fault += " writes around input " + std::to_string(i);
        const bool is_shared = in_place && static_cast<std::size_t>(in_place->input) == i;
        if (!is_shared && inputs[i].bits() != before.bits[i]) result.fault += " changes input " + std::to_string(i);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!outputs[i].guards_intact()) result.fault += " writes around output " + std::to_string(i);
        const bool is_shared = in_place && static_cast<std::size_t>(in_place->output) == i;
        const GuardedTensor& place = is_shared ? inputs[static_cast<std::size_t>(in_place->input)] : outputs[i];
        const auto bits = place.bits();
        result.bits.insert(result.bits.end(), bits.begin(), bits.end());
    }
    result.outputs = std::move(outputs);
    return result;
}

}  // namespace cairn::kernel_check
