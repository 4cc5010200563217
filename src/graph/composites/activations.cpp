#include "cairn/composites.hpp"
#include "graph/composites/f32_compute.hpp"

#include <cmath>
#include <numbers>

// If two arguments of a call both create nodes, one is named first: the order of nodes must not depend on the compiler.
namespace cairn::inline v0 {

using namespace composites;

Tensor relu(const Operand& x) {
    const CompositeScope scope("relu", x);
    return max(x, 0);
}

Tensor sigmoid(const Operand& x) {
    const CompositeScope scope("sigmoid", x);
    return narrowed(1 / (1 + exp(-widened(x))), x);
}

Tensor silu(const Operand& x) {
    const CompositeScope scope("silu", x);
    const Tensor wide = widened(x);
    return narrowed(wide * sigmoid(wide), x);
}

Tensor gelu(const Operand& x) {
    const CompositeScope scope("gelu", x);
    const Tensor wide = widened(x);
    const Tensor half = wide * 0.5;
    return narrowed(half * (1 + erf(wide / std::numbers::sqrt2)), x);
}

Tensor gelu_tanh(const Operand& x) {
    const CompositeScope scope("gelu_tanh", x);
    const double scale = std::sqrt(2 / std::numbers::pi);
    const Tensor wide = widened(x);
    const Tensor half = wide * 0.5;
    return narrowed(half * (1 + tanh(scale * (wide + 0.044715 * (wide * wide * wide)))), x);
}

Tensor swiglu(const Operand& gate, const Operand& up) {
    const CompositeScope scope("swiglu", gate);
    const Operand factor = widened_with(scope, gate, "up", up);
    return narrowed(silu(widened(gate)) * factor, gate);
}

Tensor geglu(const Operand& gate, const Operand& up) {
    const CompositeScope scope("geglu", gate);
    const Operand factor = widened_with(scope, gate, "up", up);
    return narrowed(gelu(widened(gate)) * factor, gate);
}

Tensor clamp(const Operand& x, const Operand& low, const Operand& high) {
    const CompositeScope scope("clamp", x);
    return min(max(x, low), high);
}

Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high, std::source_location where) {
    return clamp(Operand(x, where), Operand(low), Operand(high));
}

Tensor round(const Operand& x) {
    const CompositeScope scope("round", x);
    // x - floor(x) is exact except within (-1, 0), where it is still on the correct side of one half.
    const Tensor below = floor(x), rest = x - below;
    const Tensor is_odd = floor(below * 0.5) * 2 != below;
    const Tensor rounds_up = rest > 0.5 || (rest == 0.5 && is_odd);
    const Tensor nearest = where(rounds_up, below + 1, below);
    return where(nearest == 0, x * 0, nearest);  // the sign of a zero is that of x
}

Tensor sign(const Operand& x) {
    const CompositeScope scope("sign", x);
    if (x.tensor().dtype() == DType::u8) return min(x, 1);
    const Tensor negative = where(x < 0, -1, x);
    return where(x > 0, 1, negative);
}

}  // namespace cairn::inline v0
