#pragma once

#include "cairn/kernel.hpp"

#include <span>
#include <vector>

/// Definitions of what CUDA kernels alone compute as a whole.
namespace cairn::kernels::cuda {

/// Activations of the definition `mlp_block`, by the number in its attribute `activation`.
enum class MlpActivation : int { gelu_tanh, gelu, relu, silu };

/// `attention_block`: x + (causal_attention(q, concat(keys, k), concat(values, v)) wo + bo), where q, k and v are the
/// thirds of layer_norm(x, gamma, beta, eps) w + b, split into heads: the first half of a layer of a transformer whose
/// norms come first. Attributes: eps, scale, masked_score. Operands: x [B,T,D], gamma [D], beta [D], w [D,3*H*E],
/// b [3*H*E], keys and values [B,H,P,E] before these rows, wo [H*E,D], bo [D]. Results: the value, [B,T,D], and k and v,
/// [B,H,T,E], which a program may append to states.
///
/// `mlp_block`: x + (act(layer_norm(x, gamma, beta, eps) w1 + b1) w2 + b2), the second half. Attributes: eps,
/// activation. Operands: x [R,D], gamma [D], beta [D], w1 [D,H], b1 [H], w2 [H,D], b2 [D].
std::vector<Definition> cuda_definitions();

}  // namespace cairn::kernels::cuda
