#pragma once

#include <cstdint>

/// What the code per level knows about a product with a packed weight beside its Args: what is done to each element of
/// x @ w.
namespace cairn::inline v0::kernels::cpu {

enum class Activation : std::uint8_t { none, relu, gelu, gelu_tanh, silu };

/// Inputs: x, the packed weight, then the bias, then the residual, where there are such. out = activation(x @ w + bias)
/// + residual. A gated product has two packed weights and nothing else: out = activation(x @ w) * (x @ v).
struct PanelPlan {
    Activation activation;
    bool has_bias, has_residual, is_gated;
};

}  // namespace cairn::inline v0::kernels::cpu
