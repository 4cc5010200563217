#pragma once

#include <cstdint>

/// What the code per level knows about a product with a packed weight beside its Args: what is done to each element of
/// x @ w.
namespace cairn::inline v0::kernels::cpu {

enum class Activation : std::uint8_t { none, relu, gelu, gelu_tanh, silu };

/// What activation(x @ w + bias) is multiplied by: nothing; x @ v + bias of another packed weight; or by what the other
/// half of the columns gives, be the first or the last half the gate.
enum class Gate : std::uint8_t { none, weight, first_half, last_half };

/// Inputs: x, the packed weight or both, then the biases, then the residual, where there are such. Of two weights the
/// second may have a bias where the first has one. out = activation(x @ w + bias) * what the gate lets pass + residual.
struct PanelPlan {
    Activation activation;
    Gate gate;
    int biases;
    bool has_residual;
    std::int64_t depth;  ///< rows of a panel that are summed over before others
    std::int64_t ahead;  ///< rows of a panel by which few rows of x fetch it ahead
};

}  // namespace cairn::inline v0::kernels::cpu
