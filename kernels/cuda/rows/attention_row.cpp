#include "kernels/cuda/generate/body_text.hpp"
#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/cuda/rows/row_block.hpp"
#include "kernels/partial_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

/// The attention block of a transformer for one row.
namespace cairn::kernels::cuda {
namespace {

constexpr int cluster = row_block_cluster;
constexpr std::size_t x_input = 0, w_input = 3, keys_input = 5, values_input = 6, wo_input = 7, inputs = 9;

constexpr RowBlockMatrices matrices{w_input, wo_input};

/// Sizes of a problem, and how its columns are split (AttentionRowPlan in kernels/cuda/text/attention_row.cuh).
struct AttentionRow {
    std::int64_t width, heads, depth, weight_bytes, all_bytes;
    RowProduct first;
};

AttentionRow row_of(const Problem& problem) {
    AttentionRow row{};
    row.width = problem.inputs[x_input].shape.back().constant();
    row.heads = problem.inputs[keys_input].shape[1].constant();
    row.depth = problem.inputs[keys_input].shape[3].constant();
    const auto element = static_cast<std::int64_t>(size_of(problem.inputs[w_input].dtype));
    const std::int64_t columns = 3 * row.depth / cluster;
    row.first = row_product(row.width, columns, element);
    row.weight_bytes = row.first.bytes + row.depth * (row.width / cluster) * element;
    row.all_bytes = row.weight_bytes +
                    4 * (2 * row.width + (row.first.warps + 1) * columns + 4 * row.depth +
                         (row.first.threads / 32 + cluster) * (row.depth + 4)) +
                    256;
    return row;
}

Refusal shape_refusal(const Problem& problem) {
    if (problem.inputs.size() != inputs || problem.outputs.size() != 3) return "needs nine inputs and three outputs";
    for (const auto* side : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *side)
            for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
                const bool is_length = side == &problem.inputs && axis == 2 && tensor.shape.size() == 4;
                if (!is_length && !tensor.shape[axis].is_constant()) return "needs one row of constant sizes";
            }
    const Shape &x = problem.inputs[x_input].shape, &keys = problem.inputs[keys_input].shape;
    if (x.size() != 3 || !(element_count(x) == x.back())) return "needs one row";
    if (keys.size() != 4 || problem.inputs[values_input].shape != keys) return "needs keys and values [1,H,P,E]";
    const Dim heads = keys[1], depth = keys[3], width = x.back(), all = heads * depth;
    if (problem.inputs[w_input].shape != Shape{width, 3 * all} || problem.inputs[wo_input].shape != Shape{all, width})
        return "needs matrices [D,3*H*E] and [H*E,D]";
    const Shape row{1, heads, 1, depth};
    if (problem.outputs[0].shape != x || problem.outputs[1].shape != row || problem.outputs[2].shape != row)
        return "needs outputs of the shapes of x and of one key";
    return {};
}

/// `problem` with its outputs in plain memory.
Refusal accepts_plain(const Problem& problem) {
    if (Refusal no = needs_plain_memory_or_partial_sums(problem); !no.empty()) return no;
    if (Refusal no = shape_refusal(problem); !no.empty()) return no;
    if (Refusal no = row_block_input_refusal(problem, matrices, {keys_input, values_input}); !no.empty()) return no;
    const DType stored = problem.inputs[keys_input].dtype;
    if (stored != DType::f32 && !is_widening(stored, DType::f32)) return "needs keys and values of f32, f16 or bf16";
    if (problem.inputs[values_input].dtype != stored) return "needs keys and values of one dtype";
    for (std::size_t output = 0; output < problem.outputs.size(); ++output) {
        if (problem.outputs[output].dtype != (output == 0 ? DType::f32 : stored))
            return "needs a result of f32, and rows of the dtype of the keys";
        if (!(problem.outputs[output].strides.back() == Dim(1))) return "needs contiguous outputs";
    }
    const AttentionRow row = row_of(problem);
    if (row.depth != 32 && row.depth != 64 && row.depth != 128) return "needs a head size of 32, 64 or 128";
    const auto element = static_cast<std::int64_t>(size_of(problem.inputs[w_input].dtype));
    if (row.depth / cluster * element < 16) return "needs 16 bytes of weights of each head for each block";
    const std::int64_t step = cluster * 16 / element;
    if (row.width % step != 0 || row.width > 2048)
        return fmt::format("needs rows of a multiple of {} elements, at most 2048", step);
    if (row.all_bytes > row_block_shared_bytes) return "needs weights of a block in shared memory";
    return {};
}

std::string output_layout(const Problem& problem, int output) {
    return output == 0 && accepts_plain(problem).empty() ? layout_of_parts(row_of(problem).heads) : std::string();
}

Refusal accepts(const Problem& problem) {
    const Problem plain = with_plain_result(problem);
    if (Refusal no = accepts_plain(plain); !no.empty()) return no;
    return part_count(problem.outputs[0]) == row_of(plain).heads ? Refusal() : "writes one part for each head";
}

std::string place_text(const std::string& name, const std::string& operand, const TensorDesc& tensor) {
    return fmt::format("            state.{} = ({}*){} + of_head * {};\n", name, memory_type(tensor.dtype), operand,
                       size_text(tensor.strides[1]));
}

/// Keys or values before the row, and the places of those of the row.
std::string state_text(char name, std::size_t input, std::size_t output, const Problem& problem) {
    const TensorDesc& tensor = problem.inputs[input];
    const auto of_16_bytes = static_cast<std::int64_t>(16 / size_of(tensor.dtype));
    const bool is_wide = is_multiple(tensor.strides[1], of_16_bytes) && is_multiple(tensor.strides[2], of_16_bytes);
    return place_text(std::string(1, name), fmt::format("in{}", input), tensor) +
           place_text(fmt::format("new_{}", name), fmt::format("out{}", output), problem.outputs[output]) +
           fmt::format(
               "            state.{0}_stride = {1};\n            state.{0}_wide = {2} && is_aligned(state.{0});\n",
               name, size_text(tensor.strides[2]), is_wide);
}

KernelCode code(const Problem& problem) {
    const AttentionRow row = row_of(problem);
    KernelCode code;
    code.entry = entry_of("attention_row", problem);
    code.block = static_cast<int>(row.first.threads);
    code.cluster = cluster;
    code.grid = {Dim(row.heads * cluster)};
    code.shared_bytes = row.weight_bytes;
    code.text =
        kernel_head(problem, code.entry, code.block, resident_blocks(row.all_bytes)) +
        fmt::format(
            "    AttentionRowOperands p;\n    p.x = (float*)in0, p.gamma = (float*)in1, p.beta = (float*)in2;\n"
            "    p.w = in3, p.b = (float*)in4, p.wo = in7, p.bo = (float*)in8, p.y = (float*)out0;\n"
            "    attention_row<{}, {}, {}, {}, {}, {}>(\n        p, {}, {}, [&](i64 of_head) {{\n",
            stored_type(problem.inputs[w_input].dtype), row.width, row.depth, row.first.warps,
            part_count(problem.inputs[x_input]), cluster,
            float_text(static_cast<float>(problem.attributes.number("eps"))),
            float_text(static_cast<float>(problem.attributes.number("scale")))) +
        symbols_text(problem) +
        fmt::format("            AttentionRowState<{}> state;\n            state.keys = {};\n",
                    stored_type(problem.inputs[keys_input].dtype), size_text(problem.inputs[keys_input].shape[2])) +
        state_text('k', keys_input, 1, problem) + state_text('v', values_input, 2, problem) +
        "            return state;\n        });\n}\n";
    return code;
}

Cost cost(const Problem& problem) {
    const AttentionRow row = row_of(problem);
    const double keys = static_cast<double>(problem.inputs[keys_input].shape[2].constant() + 1),
                 all = static_cast<double>(row.heads * row.depth);
    return row_block_cost(problem, 8 * static_cast<double>(row.width) * all + 4 * keys * all, row.heads * cluster);
}

std::vector<std::string> samples() {
    return {
        "attention_block eps=1e-05 scale=0.125 masked_score=-3.4028235e+38 | f32[1,1,768]@partial_sums.16 f32[768]! "
        "f32[768]! f32[768,2304]! f32[2304]! f32[1,12,past,64]:(786432,65536,64,1) "
        "f32[1,12,past,64]:(786432,65536,64,1) "
        "f32[768,768]! f32[768]! -> f32[1,1,768]@partial_sums.12 f32[1,12,1,64]:(786432,65536,64,1) "
        "f32[1,12,1,64]:(786432,65536,64,1) where past in 0..1023",
        "attention_block eps=1e-05 scale=0.125 masked_score=-1e+30 | f32[1,1,768] f32[768]! f32[768]! f16[768,2304]! "
        "f32[2304]! f32[1,12,past,64] f32[1,12,past,64] f16[768,768]! f32[768]! -> f32[1,1,768]@partial_sums.12 "
        "f32[1,12,1,64] f32[1,12,1,64] where past in 0..1023",
        "attention_block eps=1e-05 scale=0.125 masked_score=-1e+30 | f32[1,1,768] f32[768]! f32[768]! f16[768,2304]! "
        "f32[2304]! f16[1,12,past,64]:(786432,65536,64,1) f16[1,12,past,64]:(786432,65536,64,1) f16[768,768]! "
        "f32[768]! -> f32[1,1,768]@partial_sums.12 f16[1,12,1,64]:(786432,65536,64,1) "
        "f16[1,12,1,64]:(786432,65536,64,1) where past in 0..1023",
        "attention_block eps=1e-05 scale=0.25 masked_score=-1e+30 | f32[1,1,96] f32[96]! f32[96]! f32[96,96]! f32[96]! "
        "f32[1,1,P,32] f32[1,1,P,32] f32[32,96]! f32[96]! -> f32[1,1,96] f32[1,1,1,32] f32[1,1,1,32] where P in 0..99",
        "attention_block eps=1e-12 scale=1 masked_score=-inf | f32[1,1,128]@partial_sums.2 f32[128]! f32[128]! "
        "bf16[128,768]! f32[768]! f32[1,2,P,128]:(10578,5289,129,1) f32[1,2,P,128] bf16[256,128]! f32[128]! -> "
        "f32[1,1,128]@partial_sums.2 f32[1,2,1,128] f32[1,2,1,128] where P in 0..40",
        "attention_block eps=1e-05 scale=0.25 masked_score=-1e+30 | f32[1,1,96] f32[96]! f32[96]! f32[96,96]! f32[96]! "
        "bf16[1,1,P,32] bf16[1,1,P,32] f32[32,96]! f32[96]! -> f32[1,1,96] bf16[1,1,1,32] bf16[1,1,1,32] where P in "
        "0..99"};
}

}  // namespace

void add_attention_row(std::vector<Kernel>& kernels) {
    kernels.push_back(
        row_block_kernel("attention_row", "attention_block", accepts, code, cost, samples(), output_layout, matrices));
}

}  // namespace cairn::kernels::cuda
