#include "tests/driver/attending_kernels.hpp"

#include "cairn/ops.hpp"

#include <cmath>
#include <span>
#include <vector>

namespace cairn::test {
namespace {

std::vector<Tensor> attend(std::span<const Tensor> in, const Attributes&) {
    const Tensor k = matmul(in[0], in[1]), v = matmul(in[0], in[2]);
    const Tensor all_keys = concat({in[3], k}, 0), all_values = concat({in[4], v}, 0);
    return {matmul(exp(matmul(in[0], transpose(all_keys, {1, 0}))), all_values), k, v};
}

float& element_at(const TensorArg& tensor, std::int64_t row, std::int64_t column) {
    return reinterpret_cast<float*>(tensor.data)[row * tensor.strides[0] + column * tensor.strides[1]];
}

/// Row `row` of the left matrix times column `column` of the right one.
float product(const TensorArg& left, std::int64_t row, const TensorArg& right, std::int64_t column) {
    float sum = 0;
    for (std::int64_t i = 0; i < right.shape[0]; ++i) sum += element_at(left, row, i) * element_at(right, i, column);
    return sum;
}

void run_attend(const Args& args, Team& team) {
    if (team.rank() != 0) return;
    const TensorArg &x = args.inputs[0], &keys = args.inputs[3], &values = args.inputs[4];
    const TensorArg &y = args.outputs[0], &k = args.outputs[1], &v = args.outputs[2];
    const std::int64_t rows = x.shape[0], width = x.shape[1], past = keys.shape[0];
    for (std::int64_t t = 0; t < rows; ++t)
        for (std::int64_t d = 0; d < width; ++d) {
            element_at(k, t, d) = product(x, t, args.inputs[1], d);
            element_at(v, t, d) = product(x, t, args.inputs[2], d);
        }
    for (std::int64_t t = 0; t < rows; ++t) {
        for (std::int64_t d = 0; d < width; ++d) element_at(y, t, d) = 0;
        for (std::int64_t p = 0; p < past + rows; ++p) {
            const TensorArg &of_key = p < past ? keys : k, &of_value = p < past ? values : v;
            const std::int64_t at = p < past ? p : p - past;
            float score = 0;
            for (std::int64_t d = 0; d < width; ++d) score += element_at(x, t, d) * element_at(of_key, at, d);
            const float weight = std::exp(score);
            for (std::int64_t d = 0; d < width; ++d) element_at(y, t, d) += weight * element_at(of_value, at, d);
        }
    }
}

}  // namespace

KernelSet attending_kernels() {
    Definition definition;
    definition.name = "attend";
    definition.build = attend;
    definition.patterns = {"attend | f32[T,D] f32[D,D] f32[D,D] f32[P,D] f32[P,D]"};
    Kernel kernel;
    kernel.id = "own.attend.f32@1";
    kernel.definition = "attend";
    kernel.accepts = [](const Problem& problem) {
        for (const auto* operands : {&problem.inputs, &problem.outputs})
            for (const TensorDesc& tensor : *operands)
                if (tensor.dtype != DType::f32 || tensor.shape.size() != 2) return Refusal("needs matrices of f32");
        return Refusal();
    };
    kernel.run = run_attend;
    kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    kernel.samples = {
        "attend | f32[T,6] f32[6,6] f32[6,6] f32[P,6] f32[P,6] -> f32[T,6] f32[T,6] f32[T,6] where T in "
        "0..4, P in 0..8"};
    return {{definition}, {}, {kernel}};
}

}  // namespace cairn::test
