#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/generate/row_text.hpp"
#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/cuda/rows/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

/// softmax, log_softmax, layer_norm and rms_norm of f32, the latter two also after an addition: a block for each row.
namespace cairn::kernels::cuda {
namespace {

bool adds(const Problem& problem) { return problem.definition.starts_with("add_"); }
bool is_softmax(const Problem& problem) { return problem.definition.ends_with("softmax"); }
bool is_centered(const Problem& problem) { return problem.definition.ends_with("layer_norm"); }
/// Gamma and beta come after the operands of full shape.
std::size_t first_factor(const Problem& problem) { return adds(problem) ? 2 : 1; }

std::string store_text(const Problem& problem, const RowView& y) {
    std::string value = "value", text;
    const std::size_t first = first_factor(problem);
    for (std::size_t i = first; i < problem.inputs.size(); ++i) {
        const std::string factor = fmt::format("((float*)in{})[{}]", i, AxisList(problem.inputs[i]).offset("j"));
        value += (i == first ? " * " : " + ") + factor;
    }
    return fmt::format("    const auto store = [&](i64 j, float value) {{ y[{}] = {}; }};\n", y.along.offset("j"),
                       value);
}

// The sum is written as it is loaded; where loads are repeated, it is written before and then read.
std::string load_text(const Problem& problem, const RowPlan& plan, const RowView& x, const std::string& size) {
    const std::string element = element_text(problem.inputs[0], "x", x.along.offset("j"));
    if (!adds(problem)) return fmt::format("    const auto load = [&](i64 j) {{ return {}; }};\n", element);
    const auto axes = row_axes(problem);
    const RowView other = row_view(problem.inputs[1], axes), sum = row_view(problem.outputs[0], axes);
    std::string text = row_pointer("other", "in1", other.rows) + row_pointer("sum", "out0", sum.rows);
    text += fmt::format(
        "    const auto add = [&](i64 j) {{\n        const float value = {} + {};\n        sum[{}] = value;\n"
        "        return value;\n    }};\n",
        element, element_text(problem.inputs[1], "other", other.along.offset("j")), sum.along.offset("j"));
    if (plan.values > 0) return text + "    const auto& load = add;\n";
    return text + fmt::format(
                      "    for (i64 j = threadIdx.x; j < {}; j += {}) add(j);\n"
                      "    const auto load = [&](i64 j) {{ return sum[{}]; }};\n",
                      size, plan.threads, sum.along.offset("j"));
}

KernelCode code(const Problem& problem) {
    const auto axes = row_axes(problem);
    const RowView x = row_view(problem.inputs[0], axes), y = row_view(problem.outputs.back(), axes);
    const RowPlan plan = row_plan(x.along.count());
    const std::string size = size_text(x.along.count());
    KernelCode code;
    code.entry = entry_of("norm", problem);
    code.text = row_begin(problem, code.entry, plan, x.rows.count()) + row_pointer("x", "in0", x.rows) +
                row_pointer("y", fmt::format("out{}", problem.outputs.size() - 1), y.rows) +
                load_text(problem, plan, x, size) + store_text(problem, y);
    if (is_softmax(problem))
        code.text += fmt::format("    row_softmax<{}, {}>({}, load, store);\n}}\n", plan.arguments(),
                                 problem.definition == "log_softmax", size);
    else
        code.text +=
            fmt::format("    row_norm<{}, {}>({}, {}, load, store);\n}}\n", plan.arguments(), is_centered(problem),
                        size, float_text(static_cast<float>(problem.attributes.number("eps"))));
    code.grid = {blocks_for(x.rows.count(), 1)};
    code.block = plan.threads;
    return code;
}

Refusal accepts(const Problem& problem) {
    if (Refusal no = needs_plain_memory_or_partial_sums(problem); !no.empty()) return no;
    for (std::size_t i = first_factor(problem); i < problem.inputs.size(); ++i)
        if (!problem.inputs[i].layout.empty()) return "needs gamma and beta in plain memory";
    const std::size_t full = first_factor(problem),
                      most = is_softmax(problem) ? 1 : full + (is_centered(problem) ? 2 : 1);
    if (problem.inputs.size() < full || problem.inputs.size() > most || problem.outputs.size() != full)
        return "has the wrong number of operands";
    for (const auto* side : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *side)
            if (tensor.dtype != DType::f32) return "needs f32";
    const Shape& shape = problem.inputs[0].shape;
    if (shape.empty()) return "needs an axis";
    if (full == 2 && problem.inputs[1].shape != shape) return "needs operands of one shape";
    for (const TensorDesc& output : problem.outputs)
        if (output.shape != shape) return "needs outputs of the shape of x";
    const auto axes = row_axes(problem);
    const Dim size = row_view(problem.inputs[0], axes).along.count();
    for (std::size_t i = full; i < problem.inputs.size(); ++i)
        if (!(element_count(problem.inputs[i].shape) == size)) return "needs gamma and beta of the size of a row";
    return row_refusal(problem, axes);
}

// The reductions of a row are steps that wait for each other, and keep its threads busy.
Cost cost(const Problem& problem) {
    constexpr int least_threads = 128;
    const auto axes = row_axes(problem);
    const RowView x = row_view(problem.inputs[0], axes);
    const double threads = std::max(row_plan(x.along.count()).threads, least_threads),
                 rows = static_cast<double>(x.rows.count().constant());
    Cost cost = memory_cost(problem, is_softmax(problem) ? 40 : 10);
    cost.flops += rows * threads * (is_softmax(problem) ? 300 : 200);
    cost.steps += 2;
    return cost;
}

}  // namespace

void add_norms(std::vector<Kernel>& kernels) {
    const auto add = [&](std::string_view name, std::vector<std::string> samples) {
        kernels.push_back(cuda_row("norm", name, "f32", accepts, code, cost, std::move(samples)));
        kernels.back().in_place = {{0, 0}};
        kernels.back().layout_inputs = partial_sums_inputs(name.starts_with("add_") ? 2 : 1);
        if (name.starts_with("add_")) kernels.back().in_place = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    };
    for (const std::string name : {"softmax", "log_softmax"})
        add(name, {name + " axis=(-1) | f32[3,N] -> f32[3,N] where N in 0..300",
                   name + " axis=(-2) | f32[4,5,6] -> f32[4,5,6]",
                   name + " axis=(-1) | f32[12,T,S] -> f32[12,T,S] where T in 1..90, S in 1..20000"});
    add("layer_norm",
        {"layer_norm eps=1e-05 | f32[1,T,768] f32[768]! f32[768]! -> f32[1,T,768] where T in 1..1024",
         "layer_norm eps=1e-05 | f32[1,T,768] -> f32[1,T,768] where T in 1..1024",
         "layer_norm axes=(-2,-1) eps=0.1 | f32[T,5,7] f32[5,7] -> f32[T,5,7] where T in 0..9",
         "layer_norm eps=1e-12 | f32[T,20000] f32[20000]! f32[20000]! -> f32[T,20000] where T in 1..4",
         "layer_norm eps=1e-05 | f32[1,T,768]@partial_sums.4 f32[768]! f32[768]! -> f32[1,T,768] where T in "
         "1..12"});
    add("rms_norm", {"rms_norm eps=1e-06 | f32[T,640] f32[640]! -> f32[T,640] where T in 1..1024",
                     "rms_norm eps=0.01 | f32[T,33] f32[33]! -> f32[T,33] where T in 0..40"});
    add("add_layer_norm",
        {"add_layer_norm eps=1e-12 | f32[1,S,768] f32[1,S,768] f32[768]! f32[768]! -> f32[1,S,768] f32[1,S,768] where "
         "S in 1..512",
         "add_layer_norm eps=1e-05 | f32[T,20000] f32[T,20000] -> f32[T,20000] f32[T,20000] where T in 1..4",
         "add_layer_norm eps=1e-05 | f32[T,70]@partial_sums.2 f32[T,70]@partial_sums.3 -> f32[T,70] f32[T,70] where T "
         "in 1..4"});
    add("add_rms_norm",
        {"add_rms_norm eps=1e-06 | f32[T,640] f32[T,640] f32[640]! -> f32[T,640] f32[T,640] where T in 1..1024",
         "add_rms_norm eps=0.01 | f32[T,33] f32[T,33] f32[33]! -> f32[T,33] f32[T,33] where T in 0..40"});
}

}  // namespace cairn::kernels::cuda
