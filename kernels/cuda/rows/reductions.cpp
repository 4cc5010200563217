#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/generate/row_text.hpp"
#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/cuda/rows/rows.hpp"

#include <fmt/format.h>

/// sum, max_reduce, mean, variance and argmax of f32 over any axes: a block for each element of the result.
namespace cairn::kernels::cuda {
namespace {

// The axes of the output that number its elements: all if the reduced axes are left out, as mean does.
AxisList output_rows(const Problem& problem, const std::vector<std::size_t>& axes) {
    const TensorDesc& out = problem.outputs[0];
    if (out.shape.size() != problem.inputs[0].shape.size()) return AxisList(out);
    return row_view(out, axes).rows;
}

std::string result_text(const Problem& problem, const RowPlan& plan, const std::string& size) {
    const std::string& name = problem.definition;
    const auto call = [&](const char* function) {
        return fmt::format("{}<{}>({}, load)", function, plan.arguments(), size);
    };
    if (name == "sum") return call("row_sum");
    if (name == "max_reduce") return call("row_max");
    if (name == "mean") return fmt::format("{} / float({})", call("row_sum"), size);
    if (name == "variance") return call("row_variance");
    return call("row_argmax");
}

KernelCode code(const Problem& problem) {
    const auto axes = row_axes(problem);
    const RowView view = row_view(problem.inputs[0], axes);
    const RowPlan plan = row_plan(view.along.count());
    const std::string type = problem.definition == "argmax" ? "i32" : "float";
    KernelCode code;
    code.entry = entry_of("reduction", problem);
    code.text =
        row_begin(problem, code.entry, plan, view.rows.count()) + row_pointer("x", "in0", view.rows) +
        row_pointer("y", "out0", output_rows(problem, axes), type) +
        fmt::format("    const auto load = [&](i64 j) {{ return x[{}]; }};\n", view.along.offset("j")) +
        fmt::format("    const {} result = {};\n", type, result_text(problem, plan, size_text(view.along.count()))) +
        "    if (threadIdx.x == 0) *y = result;\n}\n";
    code.grid = {blocks_for(view.rows.count(), 1)};
    code.block = plan.threads;
    return code;
}

Refusal accepts(const Problem& problem) {
    if (Refusal no = needs_plain_memory(problem); !no.empty()) return no;
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    if (problem.inputs[0].dtype != DType::f32) return "needs f32";
    if (problem.outputs[0].dtype != (problem.definition == "argmax" ? DType::i32 : DType::f32))
        return "needs an output of f32, or of i32 for argmax";
    if (problem.inputs[0].shape.empty()) return "needs an axis";
    const auto axes = row_axes(problem);
    if (!(output_rows(problem, axes).count() == row_view(problem.inputs[0], axes).rows.count()))
        return "needs an output of one element a row";
    return row_refusal(problem, axes);
}

Cost cost(const Problem& problem) {
    Cost cost{2 * static_cast<double>(element_count(problem.inputs[0].shape).constant()), bytes_of(problem), 0.5};
    cost.steps = 2;
    return cost;
}

}  // namespace

void add_reductions(std::vector<Kernel>& kernels) {
    const auto add = [&](std::string_view name, std::vector<std::string> samples) {
        kernels.push_back(cuda_row("reduction", name, "f32", accepts, code, cost, std::move(samples)));
    };
    for (const std::string name : {"sum", "max_reduce"})
        add(name, {name + " axes=(-1) | f32[3,N] -> f32[3,1] where N in 0..300",
                   name + " axes=(-3,-1) | f32[4,5,6]:(60,6,1) -> f32[1,5,1]",
                   name + " axes=(-1) | f32[T,20000] -> f32[T,1] where T in 0..9"});
    for (const std::string name : {"mean", "variance"})
        add(name, {name + " axes=(-1) keepdims=(1) | f32[3,N] -> f32[3,1] where N in 1..3000",
                   name + " axes=(-2,-1) keepdims=(0) | f32[4,5,6] -> f32[4]"});
    add("argmax", {"argmax axis=(-1) | f32[3,N] -> i32[3,1] where N in 1..300",
                   "argmax axis=(-2) | f32[4,5,6] -> i32[4,1,6]", "argmax axis=(-1) | f32[1,50257] -> i32[1,1]"});
}

}  // namespace cairn::kernels::cuda
