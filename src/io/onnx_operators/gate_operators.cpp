#include "io/onnx_node/known_index.hpp"
#include "io/onnx_operators/activations.hpp"
#include "io/onnx_operators/operators.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace cairn::inline v0::onnx {
namespace {

void make_relu(Node& node) { node.set(0, relu(node.tensor(0))); }

bool fold_relu(Node& node) {
    Known result = node.elements(0);
    for (double& value : result.floats) value = value < 0 ? 0 : value;
    for (Dim& size : result.integers) size = provably_le(0, size) ? size : max(size, 0);
    node.set(0, std::move(result));
    return true;
}

void make_leaky_relu(Node& node) {
    set_narrowed(node, leaky_relu_of(wide_of(node.tensor(0)), node.real("alpha", 0.01f)));
}

void make_prelu(Node& node) {
    const Tensor x = wide_of(node.tensor(0)), slope = broadcast(wide_of(node.tensor(1)), x.shape());
    set_narrowed(node, leaky_relu_of(x, slope));
}

void make_thresholded_relu(Node& node) {
    const Tensor x = wide_of(node.tensor(0));
    set_narrowed(node, where(x > node.real("alpha", 1.0), x, 0));
}

void make_elu(Node& node) { set_narrowed(node, elu_of(wide_of(node.tensor(0)), node.real("alpha", 1.0))); }

void make_selu(Node& node) {
    const double alpha = node.real("alpha", 1.67326319217681884765625);
    const double gamma = node.real("gamma", 1.05070102214813232421875);
    set_narrowed(node, elu_of(wide_of(node.tensor(0)), alpha) * gamma);
}

void make_celu(Node& node) {
    const double alpha = node.real("alpha", 1.0);
    if (alpha <= 0) node.refuse(fmt::format("its attribute alpha is {}, which is not positive", alpha));
    set_narrowed(node, elu_of(wide_of(node.tensor(0)), alpha, alpha));
}

void make_gelu(Node& node) {
    const std::string approximate = node.text("approximate", "none");
    if (approximate != "none" && approximate != "tanh")
        node.refuse(fmt::format("there is no approximation '{}'", approximate));
    const Tensor x = node.tensor(0);
    node.set(0, approximate == "none" ? gelu(x) : gelu_tanh(x));
}

/// x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2); from 30 on the quotient is 1.
void make_mish(Node& node) {
    const Tensor x = wide_of(node.tensor(0)), e = exp(min(x, 30));
    const Tensor n = e * (e + 2);
    set_narrowed(node, x * (n / (n + 2)));
}

void make_swish(Node& node) { set_narrowed(node, swish_of(wide_of(node.tensor(0)), node.real("alpha", 1.0))); }

void make_swiglu(Node& node) {
    const double alpha = node.real("alpha", 1.0);
    const Tensor gate = node.tensor(0), up = node.tensor(1);
    if (gate.shape() != up.shape())
        node.refuse(fmt::format("its inputs have different shapes, {} and {}", cairn::to_string(gate.shape()),
                                cairn::to_string(up.shape())));
    if (alpha == 1) return node.set(0, swiglu(gate, up));
    set_narrowed(node, swish_of(wide_of(gate), alpha) * wide_of(up));
}

void make_hard_sigmoid(Node& node) {
    const double a = node.real("alpha", 0.2f), b = node.real("beta", 0.5);
    set_narrowed(node, hard_sigmoid_of(wide_of(node.tensor(0)), a, b));
}

void make_hard_swish(Node& node) {
    const Tensor x = wide_of(node.tensor(0));
    set_narrowed(node, x * clamp(x / 6 + 0.5, 0, 1));
}

/// x moved toward 0 by `bias` outside of -lambd .. lambd, 0 inside.
void make_shrink(Node& node) {
    double bias = node.real("bias", 0.0), limit = node.real("lambd", 0.5);
    Tensor x = wide_of(node.tensor(0));
    if (is_integer(x.dtype())) {
        if (bias != std::floor(bias)) node.refuse(fmt::format("its bias of {} is no integer", bias));
        limit = std::floor(limit);
        x = as_dtype(x, DType::i64);
    }
    const Tensor is_above = x > limit, above = where(is_above, x - bias, 0);
    const Tensor is_below = x < -limit;
    set_narrowed(node, where(is_below, x + bias, above));
}

/// A bound of Clip: an input, or an attribute of older operator sets.
std::optional<Operand> bound_of(const Node& node, std::size_t input, std::string_view attribute) {
    if (node.has(input)) {
        const Tensor bound = node.tensor(input);
        return bound.rank() == 0 ? bound : reshape(bound, Shape{});
    }
    if (node.has_attribute(attribute)) return node.real(attribute);
    return std::nullopt;
}

void make_clip(Node& node) {
    const Tensor x = node.tensor(0);
    const std::optional<Operand> low = bound_of(node, 1, "min"), high = bound_of(node, 2, "max");
    if (low.has_value() && high.has_value()) return node.set(0, clamp(x, *low, *high));
    if (low.has_value()) return node.set(0, max(x, *low));
    node.set(0, high.has_value() ? min(x, *high) : x);
}

bool fold_clip(Node& node) {
    Known result = node.require_known(0, "input");
    if (node.opset() < 11) return false;
    for (const std::size_t input : {std::size_t{1}, std::size_t{2}}) {
        if (!node.has(input)) continue;
        const Known& bound = node.require_known(input, "bound");
        if (bound.count() != 1 || bound.type != result.type) return false;
        const bool is_low = input == 1;
        for (double& value : result.floats) {
            const double limit = bound.floats[0];
            if (std::isnan(limit) || (is_low ? value < limit : value > limit)) value = limit;
        }
        for (Dim& value : result.integers)
            value = is_low ? max(value, bound.integers[0]) : min(value, bound.integers[0]);
    }
    node.set(0, std::move(result));
    return true;
}

constexpr std::array<Operator, 15> gate_rows{{{"Relu", 6, make_relu, fold_relu},
                                              {"LeakyRelu", 6, make_leaky_relu},
                                              {"PRelu", 7, make_prelu},
                                              {"ThresholdedRelu", 10, make_thresholded_relu},
                                              {"Elu", 6, make_elu},
                                              {"Selu", 6, make_selu},
                                              {"Celu", 12, make_celu},
                                              {"Gelu", 20, make_gelu},
                                              {"Mish", 18, make_mish},
                                              {"Swish", 24, make_swish},
                                              {"SwiGLU", 28, make_swiglu},
                                              {"HardSigmoid", 6, make_hard_sigmoid},
                                              {"HardSwish", 14, make_hard_swish},
                                              {"Shrink", 9, make_shrink},
                                              {"Clip", 6, make_clip, fold_clip}}};

}  // namespace

std::span<const Operator> gate_operators() { return gate_rows; }

}  // namespace cairn::inline v0::onnx
