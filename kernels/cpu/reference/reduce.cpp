#include "kernels/cpu/reference/element.hpp"
#include "kernels/cpu/reference/registration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

/// Reference kernels of sum, prod, max_reduce and argmax: one output element at a time, floats in double.
namespace cairn::kernels::cpu::reference {
namespace {

enum class ReduceOp { sum, prod, max, argmax };

struct Reduction {
    ReduceOp kind;
    DType input, output;
    std::vector<bool> reduced;  ///< per axis
};

// The running state of one output element.
struct ReduceState {
    double real = 0;
    std::int64_t whole = 0, index = 0, seen = 0;
    bool is_nan = false;
};

void add_values(ReduceState& total, const ElementBlock& block, int count, const Reduction& reduction) noexcept {
    const bool real = is_float(reduction.input);
    for (int i = 0; i < count; ++i, ++total.seen) {
        if (reduction.kind == ReduceOp::sum) {
            if (real)
                total.real += block.real[i];
            else
                total.whole = static_cast<std::int64_t>(static_cast<std::uint64_t>(total.whole) +
                                                        static_cast<std::uint64_t>(block.whole[i]));
            continue;
        }
        if (reduction.kind == ReduceOp::prod) {
            if (real)
                total.real *= block.real[i];
            else
                total.whole = static_cast<std::int64_t>(static_cast<std::uint64_t>(total.whole) *
                                                        static_cast<std::uint64_t>(block.whole[i]));
            continue;
        }
        // The first NaN wins; on a tie the first element wins.
        if (total.is_nan) continue;
        const bool nan = real && std::isnan(block.real[i]);
        const bool larger = real ? block.real[i] > total.real : block.whole[i] > total.whole;
        if (total.seen > 0 && !larger && !nan) continue;
        total.is_nan = nan;
        total.index = total.seen;
        if (real)
            total.real = block.real[i];
        else
            total.whole = block.whole[i];
    }
}

ReduceState start(const Reduction& reduction) noexcept {
    ReduceState total;
    if (reduction.kind == ReduceOp::sum) return total;
    if (reduction.kind == ReduceOp::prod) {
        total.real = 1;
        total.whole = 1;
        return total;
    }
    total.real = -std::numeric_limits<double>::infinity();
    total.whole = smallest(reduction.input);
    return total;
}

// Visits the reduced elements of one output element: axes from `axis` on, the last reduced axis in blocks.
void visit_reduced(ReduceState& total, const Reduction& reduction, const TensorArg& in, int axis,
                   std::int64_t offset) noexcept {
    while (axis < in.rank && !reduction.reduced[static_cast<std::size_t>(axis)]) ++axis;
    int next = axis + 1;
    while (next < in.rank && !reduction.reduced[static_cast<std::size_t>(next)]) ++next;
    const std::int64_t size = axis < in.rank ? in.shape[axis] : 1, stride = axis < in.rank ? in.strides[axis] : 0;
    if (next < in.rank) {
        for (std::int64_t i = 0; i < size; ++i) visit_reduced(total, reduction, in, next, offset + i * stride);
        return;
    }
    ElementBlock block;
    for (std::int64_t i = 0; i < size; i += block_size) {
        const int count = static_cast<int>(std::min<std::int64_t>(block_size, size - i));
        load(block, in.data, offset + i * stride, stride, count, reduction.input);
        add_values(total, block, count, reduction);
    }
}

void run(const Args& args, Team& team) {
    const Reduction& reduction = *static_cast<const Reduction*>(args.prepared);
    const TensorArg& in = args.inputs[0];
    const StridedView out = strided_view_of(args.outputs[0]);
    // The output keeps its reduced axes with size 1, so its index addresses the first input element of each reduction.
    const StridedView firsts{in.data, out.shape, in.strides, in.rank};
    const std::int64_t count = element_count(out);
    constexpr std::int64_t per_chunk = 16;
    for (std::int64_t chunk = team.next_chunk(); chunk * per_chunk < count; chunk = team.next_chunk()) {
        for (std::int64_t i = chunk * per_chunk; i < std::min(count, (chunk + 1) * per_chunk); ++i) {
            ReduceState total = start(reduction);
            visit_reduced(total, reduction, in, 0, offset_of(firsts, i));
            ElementBlock result;
            if (reduction.kind == ReduceOp::argmax)
                result.whole[0] = total.index;
            else if (is_float(reduction.input))
                result.real[0] = total.real;
            else
                result.whole[0] = total.whole;
            store(result, out.data, offset_of(out, i), 1, 1, reduction.output);
        }
    }
}

const std::vector<Dim>& axes_of(const Problem& problem) {
    return problem.attributes.dims(problem.definition == "argmax" ? "axis" : "axes");
}

Refusal accepts(const Problem& problem) {
    if (Refusal refusal = needs_plain_memory(problem); !refusal.empty()) return refusal;
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    if (problem.inputs[0].shape.size() != problem.outputs[0].shape.size())
        return "needs an output that keeps the reduced axes";
    if (problem.inputs[0].dtype == DType::boolean) return "needs numbers";
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    auto reduction = std::make_shared<Reduction>();
    reduction->kind = problem.definition == "sum"      ? ReduceOp::sum
                      : problem.definition == "prod"   ? ReduceOp::prod
                      : problem.definition == "argmax" ? ReduceOp::argmax
                                                       : ReduceOp::max;
    reduction->input = problem.inputs[0].dtype;
    reduction->output = problem.outputs[0].dtype;
    const std::size_t rank = problem.inputs[0].shape.size();
    reduction->reduced.assign(rank, false);
    for (const Dim& axis : axes_of(problem))
        reduction->reduced.at(static_cast<std::size_t>(axis_index(axis.constant(), rank))) = true;
    return reduction;
}

Cost cost(const Problem& problem) {
    const double count = static_cast<double>(element_count(problem.inputs[0].shape).constant());
    return scalar_cost(count, size_in_bytes(problem.inputs[0]) + size_in_bytes(problem.outputs[0]));
}

Kernel kernel(const std::string& name, std::vector<std::string> samples) {
    Kernel made = reference_kernel(name, accepts, run, prepare, std::move(samples));
    made.cost = cost;
    return made;
}

}  // namespace

void add_reductions(std::vector<Kernel>& kernels) {
    for (const std::string name : {"sum", "max_reduce"})
        kernels.push_back(kernel(
            name,
            {name + " axes=(-1) | f32[3,N] -> f32[3,1] where N in 0..300",
             name + " axes=(-3,-1) | f64[4,5,6]:(60,6,1) -> f64[1,5,1]",
             name + " axes=(-2) | f16[2,N,3] -> f16[2,1,3] where N in 1..200",
             name + " axes=(-2,-1) | bf16[70,3]:(1,70) -> bf16[1,1]", name + " axes=(-1) | i8[40,9] -> i8[40,1]",
             name + " axes=(-2) | u8[9,4]:(0,1) -> u8[1,4]",
             name + " axes=(-1) | i32[2,N] -> i32[2,1] where N in 0..90", name + " axes=(-1) | i64[20] -> i64[1]"}));
    kernels.push_back(kernel(
        "prod", {"prod axes=(-1) | f32[3,N] -> f32[3,1] where N in 0..40",
                 "prod axes=(-3,-1) | f64[4,5,6]:(60,6,1) -> f64[1,5,1]",
                 "prod axes=(-2) | f16[2,N,3] -> f16[2,1,3] where N in 1..6",
                 "prod axes=(-2,-1) | bf16[7,3]:(1,7) -> bf16[1,1]", "prod axes=(-1) | i8[40,9] -> i8[40,1]",
                 "prod axes=(-2) | u8[9,4]:(0,1) -> u8[1,4]", "prod axes=(-1) | i32[2,N] -> i32[2,1] where N in 0..90",
                 "prod axes=(-1) | i64[20] -> i64[1]"}));
    kernels.push_back(
        kernel("argmax", {"argmax axis=(-1) | f32[3,N] -> i32[3,1] where N in 1..300",
                          "argmax axis=(-2) | f64[4,5,6]:(60,6,1) -> i32[4,1,6]",
                          "argmax axis=(-1) | f16[2,70] -> i32[2,1]", "argmax axis=(-1) | bf16[9] -> i32[1]",
                          "argmax axis=(-1) | i8[40,9] -> i32[40,1]", "argmax axis=(-1) | i64[2,33] -> i32[2,1]"}));
}

}  // namespace cairn::kernels::cpu::reference
