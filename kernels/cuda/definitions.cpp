#include "kernels/cuda/definitions.hpp"

#include "cairn/composites.hpp"
#include "cairn/error.hpp"

#include <string>

namespace cairn::kernels::cuda {
namespace {

Tensor activated(const Tensor& x, MlpActivation activation) {
    switch (activation) {
        case MlpActivation::gelu_tanh: return gelu_tanh(x);
        case MlpActivation::gelu: return gelu(x);
        case MlpActivation::relu: return relu(x);
        case MlpActivation::silu: return silu(x);
    }
    throw Error(ErrorKind::argument, "mlp_block", "unknown activation " + std::to_string(static_cast<int>(activation)));
}

// Matrices may be stored in a narrower dtype.
Tensor widened(const Tensor& weights, DType dtype) { return weights.dtype() == dtype ? weights : cast(weights, dtype); }

std::vector<Tensor> mlp_block(std::span<const Tensor> operands, const Attributes& attributes) {
    if (operands.size() != 7)
        throw Error(ErrorKind::argument, "mlp_block", "expected 7 operands, got " + std::to_string(operands.size()));
    const Tensor &x = operands[0], &b1 = operands[4], &b2 = operands[6];
    const Tensor w1 = widened(operands[3], x.dtype()), w2 = widened(operands[5], x.dtype());
    const Tensor normal = layer_norm(x, operands[1], operands[2], attributes.number("eps"));
    const auto activation = static_cast<MlpActivation>(attributes.integer("activation"));
    return {x + (matmul(activated(matmul(normal, w1) + b1, activation), w2) + b2)};
}

}  // namespace

std::vector<Definition> cuda_definitions() {
    Definition block;
    block.name = "mlp_block";
    block.build = mlp_block;
    for (const MlpActivation activation :
         {MlpActivation::gelu_tanh, MlpActivation::gelu, MlpActivation::relu, MlpActivation::silu})
        block.patterns.push_back("mlp_block activation=(" + std::to_string(static_cast<int>(activation)) +
                                 ") eps=? | f32[R,D] f32[D] f32[D] f32[D,H] f32[H] f32[H,D] f32[D]");
    return {block};
}

}  // namespace cairn::kernels::cuda
