#include "kernels/cuda/rows/row_block.hpp"

#include "kernels/cuda/generate/problem_facts.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace cairn::kernels::cuda {

int resident_blocks(std::int64_t shared_bytes) {
    constexpr std::int64_t of_next = 64 * 1024;
    return shared_bytes <= row_block_shared_bytes - of_next ? 2 : 1;
}

RowProduct row_product(std::int64_t width, std::int64_t columns, std::int64_t element) {
    constexpr std::int64_t most_warps = 16, width_of_warp = 128;
    const std::int64_t chunks = std::max<std::int64_t>(columns * element / 16, 1),
                       most = std::max<std::int64_t>(std::min(most_warps / chunks, width / width_of_warp), 1),
                       warps = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(most)));
    return {warps, 32 * chunks * warps, width * (chunks | 1) * 16};
}

Refusal row_block_input_refusal(const Problem& problem, const RowBlockMatrices& matrices,
                                std::initializer_list<std::size_t> states) {
    const DType weights = problem.inputs[matrices[0]].dtype;
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
        const TensorDesc& input = problem.inputs[i];
        const bool is_state = std::find(states.begin(), states.end(), i) != states.end(),
                   is_weight = i > 0 && !is_state;
        const bool is_matrix = std::find(matrices.begin(), matrices.end(), i) != matrices.end();
        if (is_weight && !input.bound) return "needs bound weights";
        if (is_weight && !input.is_dense()) return "needs dense weights";
        if (!is_state && input.dtype != (is_matrix ? weights : DType::f32))
            return "needs f32, and matrices of one dtype";
        if (input.strides.back() != Dim(1) && !(input.shape.back() == Dim(1))) return "needs contiguous operands";
    }
    return weights == DType::f32 || is_widening(weights, DType::f32) ? "" : "needs matrices of f32, f16 or bf16";
}

Cost row_block_cost(const Problem& problem, double operations, std::int64_t blocks) {
    Cost cost{operations, bytes_of(problem) * idle_factor(static_cast<double>(blocks)), 0.5};
    cost.steps = 4;
    return cost;
}

Problem with_plain_result(Problem problem) {
    if (!problem.outputs.empty()) problem.outputs[0].layout.clear();
    return problem;
}

Kernel row_block_kernel(std::string_view family, std::string_view definition, Accepts accepts, Code code, WorkCost cost,
                        std::vector<std::string> samples, std::string (*output_layout)(const Problem&, int),
                        const RowBlockMatrices& matrices) {
    Kernel kernel = cuda_row(family, definition, "f32", accepts, code, cost, std::move(samples));
    kernel.compute_capability = 90;
    kernel.output_layout = output_layout;
    kernel.layout_inputs = partial_sums_inputs(1);
    for (const std::size_t matrix : matrices) kernel.widened_inputs.push_back(static_cast<int>(matrix));
    return kernel;
}

}  // namespace cairn::kernels::cuda
