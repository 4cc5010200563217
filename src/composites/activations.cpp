#include "cairn/composites.hpp"

#include <cmath>
#include <numbers>

// Where two arguments of a call both make nodes, one gets a name: the order of nodes must not hang on the compiler.
namespace cairn::inline v0 {

Tensor relu(const Operand& x) {
    const CompositeScope scope("relu", x);
    return max(x, 0);
}

Tensor sigmoid(const Operand& x) {
    const CompositeScope scope("sigmoid", x);
    return 1 / (1 + exp(-x));
}

Tensor silu(const Operand& x) {
    const CompositeScope scope("silu", x);
    return x * sigmoid(x);
}

Tensor gelu(const Operand& x) {
    const CompositeScope scope("gelu", x);
    const Tensor half = x * 0.5;
    return half * (1 + erf(x / std::numbers::sqrt2));
}

Tensor gelu_tanh(const Operand& x) {
    const CompositeScope scope("gelu_tanh", x);
    const double scale = std::sqrt(2 / std::numbers::pi);
    const Tensor half = x * 0.5;
    return half * (1 + tanh(scale * (x + 0.044715 * (x * x * x))));
}

}  // namespace cairn::inline v0
