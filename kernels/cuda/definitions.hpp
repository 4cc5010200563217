#pragma once

#include "cairn/kernel.hpp"

#include <span>
#include <vector>

/// Definitions of what CUDA kernels alone compute as a whole.
namespace cairn::kernels::cuda {

/// Activations of the definition `mlp_block`, by the number in its attribute `activation`.
enum class MlpActivation : int { gelu_tanh, gelu, relu, silu };

/// `mlp_block`: x + (act(layer_norm(x, gamma, beta, eps) w1 + b1) w2 + b2), the second half of a layer of a transformer
/// whose norms come first. Operands: x [R,D], gamma [D], beta [D], w1 [D,H], b1 [H], w2 [H,D], b2 [D].
std::vector<Definition> cuda_definitions();

}  // namespace cairn::kernels::cuda
