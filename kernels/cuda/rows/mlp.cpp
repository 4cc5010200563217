#include "kernels/cuda/definitions.hpp"
#include "kernels/cuda/generate/body_text.hpp"
#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/rows/row_block.hpp"
#include "kernels/partial_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

/// The MLP block of a transformer for one row.
namespace cairn::kernels::cuda {
namespace {

constexpr int cluster = row_block_cluster;
constexpr std::size_t x_input = 0, w1_input = 3, w2_input = 5, inputs = 7;
constexpr RowBlockMatrices matrices{w1_input, w2_input};

/// How the hidden units are split among blocks (MlpRowPlan in kernels/cuda/text/mlp_row.cuh).
struct MlpPlan {
    std::int64_t width, hidden, units, clusters, weight_bytes, all_bytes;
    RowProduct first;
};

MlpPlan mlp_plan(const Problem& problem) {
    constexpr std::int64_t most_blocks = resident_clusters * cluster, units_multiple = 16;
    MlpPlan plan{};
    plan.width = problem.inputs[w1_input].shape[0].constant();
    plan.hidden = problem.inputs[w1_input].shape[1].constant();
    const auto element = static_cast<std::int64_t>(size_of(problem.inputs[w1_input].dtype));
    // Whole sectors of memory. The number of parts does not depend on the dtype: they are a layout of the result.
    plan.units = std::max((plan.hidden + most_blocks - 1) / most_blocks, std::int64_t{1});
    plan.units = (plan.units + units_multiple - 1) / units_multiple * units_multiple;
    const std::int64_t blocks = (plan.hidden + plan.units - 1) / plan.units;
    plan.clusters = std::max<std::int64_t>((blocks + cluster - 1) / cluster, 1);
    plan.first = row_product(plan.width, plan.units, element);
    plan.weight_bytes = plan.first.bytes + plan.units * plan.width * element;
    plan.all_bytes = plan.weight_bytes + 4 * (3 * plan.width + (plan.first.warps + 1) * plan.units) + 256;
    return plan;
}

Refusal shape_refusal(const Problem& problem) {
    if (problem.inputs.size() != inputs || problem.outputs.size() != 1) return "needs seven inputs and one output";
    for (const auto* side : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *side)
            for (const Dim& size : tensor.shape)
                if (!size.is_constant()) return "needs one row of constant sizes";
    const TensorDesc &x = problem.inputs[x_input], &w1 = problem.inputs[w1_input], &w2 = problem.inputs[w2_input];
    if (x.shape.size() < 2 || !(element_count(x.shape) == x.shape.back())) return "needs one row";
    if (problem.outputs[0].shape != x.shape) return "needs an output of the shape of x";
    if (w1.shape.size() != 2 || w2.shape.size() != 2) return "needs matrices";
    if (!(w1.shape[0] == x.shape.back()) || w2.shape != Shape{w1.shape[1], w1.shape[0]})
        return "needs matrices [D,H] and [H,D]";
    return {};
}

/// `problem` with its output in plain memory.
Refusal accepts_plain(const Problem& problem) {
    if (Refusal no = needs_plain_memory_or_partial_sums(problem); !no.empty()) return no;
    if (Refusal no = shape_refusal(problem); !no.empty()) return no;
    if (Refusal no = row_block_input_refusal(problem, matrices, {}); !no.empty()) return no;
    if (problem.outputs[0].dtype != DType::f32 || !(problem.outputs[0].strides.back() == Dim(1)))
        return "needs a contiguous output of f32";
    const std::int64_t width = problem.inputs[w1_input].shape[0].constant(),
                       hidden = problem.inputs[w1_input].shape[1].constant();
    if (width % (4 * cluster) != 0 || width > 2048) return "needs rows of a multiple of 32 elements, at most 2048";
    if (hidden % 8 != 0 || hidden < 8) return "needs a multiple of 8 hidden units";
    const MlpPlan plan = mlp_plan(problem);
    if (plan.first.threads > 1024 || plan.all_bytes > row_block_shared_bytes)
        return "needs weights of a block in shared memory";
    return {};
}

std::string output_layout(const Problem& problem, int) {
    return accepts_plain(problem).empty() ? layout_of_parts(mlp_plan(problem).clusters) : std::string();
}

Refusal accepts(const Problem& problem) {
    const Problem plain = with_plain_result(problem);
    if (Refusal no = accepts_plain(plain); !no.empty()) return no;
    return part_count(problem.outputs[0]) == mlp_plan(plain).clusters ? Refusal()
                                                                      : "writes one part for each cluster of blocks";
}

KernelCode code(const Problem& problem) {
    constexpr std::array activations{"element_gelu_tanh", "element_gelu", "element_relu", "element_silu"};
    const MlpPlan plan = mlp_plan(problem);
    KernelCode code;
    code.entry = entry_of("mlp_row", problem);
    code.block = static_cast<int>(plan.first.threads);
    code.cluster = cluster;
    code.grid = {Dim(plan.clusters * cluster)};
    code.shared_bytes = plan.weight_bytes;
    code.text = kernel_head(problem, code.entry, code.block, resident_blocks(plan.all_bytes)) +
                fmt::format(
                    "    MlpRowOperands p;\n    p.x = (float*)in0, p.gamma = (float*)in1, p.beta = (float*)in2;\n"
                    "    p.w1 = in3, p.b1 = (float*)in4, p.w2 = in5, p.b2 = (float*)in6, p.y = (float*)out0;\n"
                    "    mlp_row<{}, {}, {}, {}, {}, {}>(\n        p, {}, {},\n"
                    "        [](float value) {{ return {}(value); }});\n}}\n",
                    stored_type(problem.inputs[w1_input].dtype), plan.width, plan.units, plan.first.warps,
                    part_count(problem.inputs[x_input]), cluster, plan.hidden,
                    float_text(static_cast<float>(problem.attributes.number("eps"))),
                    activations.at(static_cast<std::size_t>(problem.attributes.integer("activation"))));
    return code;
}

Cost cost(const Problem& problem) {
    const MlpPlan plan = mlp_plan(problem);
    const double products = static_cast<double>(plan.width * plan.hidden);
    return row_block_cost(problem, 4 * products, plan.clusters * cluster);
}

std::vector<std::string> samples() {
    return {
        "mlp_block activation=(0) eps=1e-05 | f32[1,1,768] f32[768]! f32[768]! f32[768,3072]! f32[3072]! "
        "f32[3072,768]! f32[768]! -> f32[1,1,768]@partial_sums.12",
        "mlp_block activation=(0) eps=1e-05 | f32[1,768]@partial_sums.12 f32[768]! f32[768]! f16[768,3072]! "
        "f32[3072]! f16[3072,768]! f32[768]! -> f32[1,768]@partial_sums.12",
        "mlp_block activation=(2) eps=1e-12 | f32[1,96] f32[96]! f32[96]! f32[96,56]! f32[56]! f32[56,96]! f32[96]! "
        "-> f32[1,96]",
        "mlp_block activation=(3) eps=0.01 | f32[1,32]@partial_sums.2 f32[32]! f32[32]! bf16[32,200]! f32[200]! "
        "bf16[200,32]! f32[32]! -> f32[1,32]@partial_sums.2"};
}

}  // namespace

void add_mlp(std::vector<Kernel>& kernels) {
    kernels.push_back(
        row_block_kernel("mlp_row", "mlp_block", accepts, code, cost, samples(), output_layout, matrices));
}

}  // namespace cairn::kernels::cuda
