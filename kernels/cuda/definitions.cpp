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

// Matrices and states may be stored in a narrower dtype.
Tensor in_dtype(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

std::vector<Tensor> mlp_block(std::span<const Tensor> operands, const Attributes& attributes) {
    if (operands.size() != 7)
        throw Error(ErrorKind::argument, "mlp_block", "expected 7 operands, got " + std::to_string(operands.size()));
    const Tensor &x = operands[0], &b1 = operands[4], &b2 = operands[6];
    const Tensor w1 = in_dtype(operands[3], x.dtype()), w2 = in_dtype(operands[5], x.dtype());
    const Tensor normal = layer_norm(x, operands[1], operands[2], attributes.number("eps"));
    const auto activation = static_cast<MlpActivation>(attributes.integer("activation"));
    return {x + (matmul(activated(matmul(normal, w1) + b1, activation), w2) + b2)};
}

std::vector<Tensor> attention_block(std::span<const Tensor> operands, const Attributes& attributes) {
    if (operands.size() != 9)
        throw Error(ErrorKind::argument, "attention_block",
                    "expected 9 operands, got " + std::to_string(operands.size()));
    const Tensor &x = operands[0], &b = operands[4], &keys = operands[5], &values = operands[6], &bo = operands[8];
    const Tensor w = in_dtype(operands[3], x.dtype()), wo = in_dtype(operands[7], x.dtype());
    if (x.rank() != 3 || keys.rank() != 4)
        throw Error(ErrorKind::argument, "attention_block", "expected x with three axes and keys with four");
    const Dim rows = x.dim(1), heads = keys.dim(1), depth = keys.dim(3);
    const Tensor qkv = matmul(layer_norm(x, operands[1], operands[2], attributes.number("eps")), w) + b;
    const auto third = [&](std::int64_t i) {
        const Tensor part = slice(qkv, -1, i * heads * depth, (i + 1) * heads * depth);
        return swap_axes(reshape(part, {x.dim(0), rows, heads, depth}), 1, 2);
    };
    // The row attends to itself as it is stored.
    const Tensor k = in_dtype(third(1), keys.dtype()), v = in_dtype(third(2), values.dtype());
    AttentionOptions options;
    options.causal = true;
    options.scale = attributes.number("scale");
    options.masked_score = attributes.number("masked_score");
    const Tensor seen = attention(third(0), in_dtype(concat({keys, k}, 2), x.dtype()),
                                  in_dtype(concat({values, v}, 2), x.dtype()), options);
    const Tensor merged = reshape(swap_axes(seen, 1, 2), {x.dim(0), rows, heads * depth});
    return {x + (matmul(merged, wo) + bo), k, v};
}

}  // namespace

std::vector<Definition> cuda_definitions() {
    Definition attention;
    attention.name = "attention_block";
    attention.build = attention_block;
    for (const std::string state : {"f32", "f16", "bf16"})
        attention.patterns.push_back(
            "attention_block eps=? scale=? masked_score=? | f32[B,T,D] f32[D] f32[D] f32[D,3*H*E] f32[3*H*E] " + state +
            "[B,H,P,E] " + state + "[B,H,P,E] f32[H*E,D] f32[D]");
    Definition block;
    block.name = "mlp_block";
    block.build = mlp_block;
    for (const MlpActivation activation :
         {MlpActivation::gelu_tanh, MlpActivation::gelu, MlpActivation::relu, MlpActivation::silu})
        block.patterns.push_back("mlp_block activation=(" + std::to_string(static_cast<int>(activation)) +
                                 ") eps=? | f32[R,D] f32[D] f32[D] f32[D,H] f32[H] f32[H,D] f32[D]");
    return {attention, block};
}

}  // namespace cairn::kernels::cuda
