#include "io/onnx_operators/activations.hpp"
#include "io/onnx_operators/contrib.hpp"
#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

/// Activations of com.microsoft, and products that end in one.
namespace cairn::inline v0::onnx {
namespace {

/// Input 0, plus input 1 if there is one, in the wide dtype.
Tensor wide_with_bias(Node& node) {
    const Tensor x = wide_of(node.tensor(0));
    return node.has(1) ? x + wide_of(node.tensor(1)) : x;
}

void make_contrib_gelu(Node& node) { node.set(0, gelu(node.tensor(0))); }
void make_bias_gelu(Node& node) { node.set(0, as_dtype(gelu(wide_with_bias(node)), node.dtype(0))); }
void make_fast_gelu(Node& node) { node.set(0, as_dtype(gelu_tanh(wide_with_bias(node)), node.dtype(0))); }

void make_quick_gelu(Node& node) { set_narrowed(node, swish_of(wide_of(node.tensor(0)), node.real("alpha", 1.702f))); }

/// The activation that the attributes `activation` and its parameters name.
Tensor fused_activation(const Node& node, const Tensor& x, std::vector<double> parameters) {
    const std::string name = node.text("activation", "");
    const auto parameter = [&](std::size_t i, double otherwise) {
        return i < parameters.size() ? parameters[i] : otherwise;
    };
    if (name.empty()) return x;
    if (name == "Relu") return relu(x);
    if (name == "Tanh") return tanh(x);
    if (name == "Sigmoid") return sigmoid(x);
    if (name == "LeakyRelu") return leaky_relu_of(x, parameter(0, 0.01f));
    if (name == "HardSigmoid") return hard_sigmoid_of(x, parameter(0, 0.2f), parameter(1, 0.5f));
    if (name == "Clip" && parameters.size() == 2) return clamp(x, parameters[0], parameters[1]);
    node.refuse(fmt::format("its activation '{}' is not supported", name));
}

void make_fused_conv(Node& node) {
    Tensor y = result_of_operator(node, "Conv", 11,
                                  {node.value_ptr(0), node.value_ptr(1), node.has(2) ? node.value_ptr(2) : nullptr});
    if (node.has(3)) y = y + node.tensor(3);
    node.set(0, fused_activation(node, y, node.reals("activation_params")));
}

void make_fused_gemm(Node& node) {
    const Tensor y = result_of_operator(
        node, "Gemm", 13, {node.value_ptr(0), node.value_ptr(1), node.has(2) ? node.value_ptr(2) : nullptr});
    std::vector<double> parameters;
    for (const std::string_view name : {"activation_alpha", "activation_beta"})
        if (node.has_attribute(name)) parameters.push_back(node.real(name));
    node.set(0, fused_activation(node, y, parameters));
}

/// An operand of FusedMatMul: its last two axes swapped, and before that the first axis moved behind the batch axes.
Tensor fused_operand(Node& node, std::size_t input, std::string_view swaps, std::string_view moves) {
    Tensor x = node.tensor(input);
    if (node.integer(moves, 0) != 0) {
        if (x.rank() < 3) node.refuse(fmt::format("it moves the batch axes of an operand of rank {}", x.rank()));
        std::vector<int> order;
        for (int axis = 1; axis + 1 < x.rank(); ++axis) order.push_back(axis);
        order.push_back(0);
        order.push_back(x.rank() - 1);
        x = transpose(x, order);
    }
    // A vector has no axes to swap.
    return node.integer(swaps, 0) != 0 && x.rank() > 1 ? swap_axes(x, -1, -2) : x;
}

void make_fused_matmul(Node& node) {
    const Tensor a = fused_operand(node, 0, "transA", "transBatchA"),
                 b = fused_operand(node, 1, "transB", "transBatchB");
    const Tensor y = result_of_operator(node, "MatMul", 13, {Value::of(a), Value::of(b)});
    const double alpha = node.real("alpha", 1);
    node.set(0, alpha == 1 ? y : as_dtype(wide_of(y) * alpha, y.dtype()));
}

/// Distances of rows [M, F] and [K, F]: [M, K].
void make_cdist(Node& node) {
    const Tensor a = node.tensor(0), b = node.tensor(1);
    if (a.rank() != 2 || b.rank() != 2) node.refuse("its inputs are no matrices");
    const std::string metric = node.text("metric", "sqeuclidean");
    const Tensor difference = unsqueeze(a, 1) - unsqueeze(b, 0);
    const Tensor squares = sum(difference * difference, -1);
    if (metric != "sqeuclidean" && metric != "euclidean") node.refuse(fmt::format("its metric is '{}'", metric));
    node.set(0, metric == "euclidean" ? sqrt(squares) : squares);
}

/// Operators that ai.onnx has as well, of the same inputs and attributes.
template <std::int64_t opset>
void make_as_ai_onnx(Node& node) {
    std::vector<ValuePtr> inputs;
    for (std::size_t i = 0; i < node.input_count(); ++i) inputs.push_back(node.has(i) ? node.value_ptr(i) : nullptr);
    node.set(0, result_of_operator(node, node.op(), opset, std::move(inputs)));
}

constexpr std::array<Operator, 12> contrib_function_rows{
    {{"Gelu", 1, make_contrib_gelu, nullptr, microsoft_domain},
     {"BiasGelu", 1, make_bias_gelu, nullptr, microsoft_domain},
     {"FastGelu", 1, make_fast_gelu, nullptr, microsoft_domain},
     {"QuickGelu", 1, make_quick_gelu, nullptr, microsoft_domain},
     {"FusedConv", 1, make_fused_conv, nullptr, microsoft_domain},
     {"FusedGemm", 1, make_fused_gemm, nullptr, microsoft_domain},
     {"FusedMatMul", 1, make_fused_matmul, nullptr, microsoft_domain},
     {"TransposeMatMul", 1, make_fused_matmul, nullptr, microsoft_domain},
     {"CDist", 1, make_cdist, nullptr, microsoft_domain},
     {"GatherND", 1, make_as_ai_onnx<11>, nullptr, microsoft_domain},
     {"Trilu", 1, make_as_ai_onnx<14>, nullptr, microsoft_domain},
     {"Pad", 1, make_as_ai_onnx<11>, nullptr, microsoft_domain}}};

}  // namespace

std::span<const Operator> contrib_function_operators() { return contrib_function_rows; }

}  // namespace cairn::inline v0::onnx
