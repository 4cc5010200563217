#include "io/onnx_operators/activations.hpp"
#include "io/onnx_operators/contrib.hpp"
#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/quantized.hpp"
#include "io/onnx_operators/quantized_products.hpp"

#include <fmt/format.h>

#include <array>

/// Operators of 8-bit elements: the inputs are dequantized, and the result is quantized.
namespace cairn::inline v0::onnx {
namespace {

/// Quantizes a result by the scale and zero point that are inputs of the node, the latter after the former.
void set_quantized(Node& node, const Tensor& y, std::size_t scale) {
    set_rounded(node, 0, y / single_scale(node, scale), scale + 1);
}

/// The operator `op` of ai.onnx with the attributes of the node, of one input.
Tensor float_result(Node& node, std::string_view op, std::int64_t opset, const Tensor& x) {
    return result_of_operator(node, op, opset, {Value::of(x)});
}

/// Without a zero point of the result, it has the type of input 0.
void require_output_zero_point(const Node& node, std::size_t input) {
    if (!node.has(input) && node.type(0) != ElementType::u8)
        node.refuse("it has a result of INT8 without a zero point");
}

void make_qlinear_add(Node& node) {
    require_output_zero_point(node, 7);
    set_quantized(node, dequantized_input(node, 0) + dequantized_input(node, 3), 6);
}

void make_qlinear_mul(Node& node) {
    require_output_zero_point(node, 7);
    const Tensor product = integers_less_zero_point(node, 0, 2, 0) * integers_less_zero_point(node, 3, 5, 0);
    const Tensor scale = single_scale(node, 1) * single_scale(node, 4) / single_scale(node, 6);
    set_rounded(node, 0, cast(product, DType::f32) * scale, 7);
}

void make_qlinear_sigmoid(Node& node) {
    require_output_zero_point(node, 4);
    set_quantized(node, sigmoid(dequantized_input(node, 0)), 3);
}

void make_qlinear_leaky_relu(Node& node) {
    require_output_zero_point(node, 4);
    set_quantized(node, leaky_relu_of(dequantized_input(node, 0), node.real("alpha", 0.01f)), 3);
}

/// `opset` is that of the Softmax it stands for.
void make_qlinear_softmax(Node& node) {
    const Tensor x = dequantized_input(node, 0);
    if (!node.has_attribute("axis")) return set_quantized(node, softmax(x, -1), 3);
    set_quantized(node, float_result(node, "Softmax", node.integer("opset"), x), 3);
}

void make_qlinear_reduce_mean(Node& node) {
    require_output_zero_point(node, 4);
    set_quantized(node, float_result(node, "ReduceMean", 13, dequantized_input(node, 0)), 3);
}

/// Pooling of [N, C, ..], or with `channels_last` of [N, .., C].
void make_qlinear_pool(Node& node, std::string_view op, std::int64_t opset) {
    require_output_zero_point(node, 4);
    const Tensor x = dequantized_input(node, 0);
    if (node.integer("channels_last", 0) == 0) return set_quantized(node, float_result(node, op, opset, x), 3);
    if (x.rank() < 2) node.refuse("its input has no channels");
    std::vector<int> to_front(static_cast<std::size_t>(x.rank())), to_back(to_front.size());
    for (int axis = 0; axis < x.rank(); ++axis) {
        to_front[static_cast<std::size_t>(axis)] = axis == 0 ? 0 : axis == 1 ? x.rank() - 1 : axis - 1;
        to_back[static_cast<std::size_t>(to_front[static_cast<std::size_t>(axis)])] = axis;
    }
    set_quantized(node, transpose(float_result(node, op, opset, transpose(x, to_front)), to_back), 3);
}

void make_qlinear_average_pool(Node& node) { make_qlinear_pool(node, "AveragePool", 10); }
void make_qlinear_global_average_pool(Node& node) { make_qlinear_pool(node, "GlobalAveragePool", 1); }

/// Inputs: scale and zero point of the result, then each tensor with its own.
void make_qlinear_concat(Node& node) {
    std::vector<Tensor> parts;
    for (std::size_t input = 2; input + 2 < node.input_count(); input += 3)
        parts.push_back(dequantized_input(node, input));
    if (parts.empty() || node.input_count() != 2 + 3 * parts.size())
        node.refuse(
            fmt::format("it has {} inputs, which are no tensors with scales and zero points", node.input_count()));
    const Tensor y = concat(parts, node.axis(node.integer("axis"), parts[0].rank()));
    set_rounded(node, 0, y / single_scale(node, 0), 1);
}

void make_qlinear_where(Node& node) {
    set_quantized(node, where(node.tensor(0), dequantized_input(node, 1), dequantized_input(node, 4)), 7);
}

void make_mul_integer(Node& node) {
    node.set(0, integers_less_zero_point(node, 0, 1, 0) * integers_less_zero_point(node, 2, 3, 0));
}

constexpr std::array<Operator, 15> contrib_quantized_rows{
    {{"QLinearAdd", 1, make_qlinear_add, nullptr, microsoft_domain},
     {"QLinearMul", 1, make_qlinear_mul, nullptr, microsoft_domain},
     {"QLinearSigmoid", 1, make_qlinear_sigmoid, nullptr, microsoft_domain},
     {"QLinearLeakyRelu", 1, make_qlinear_leaky_relu, nullptr, microsoft_domain},
     {"QLinearSoftmax", 1, make_qlinear_softmax, nullptr, microsoft_domain},
     {"QLinearReduceMean", 1, make_qlinear_reduce_mean, nullptr, microsoft_domain},
     {"QLinearAveragePool", 1, make_qlinear_average_pool, nullptr, microsoft_domain},
     {"QLinearGlobalAveragePool", 1, make_qlinear_global_average_pool, nullptr, microsoft_domain},
     {"QLinearConcat", 1, make_qlinear_concat, nullptr, microsoft_domain},
     {"QLinearWhere", 1, make_qlinear_where, nullptr, microsoft_domain},
     {"QLinearConv", 1, make_qlinear_conv, nullptr, microsoft_domain},
     {"QGemm", 1, make_qgemm, nullptr, microsoft_domain},
     {"MatMulIntegerToFloat", 1, make_matmul_integer_to_float, nullptr, microsoft_domain},
     {"DynamicQuantizeMatMul", 1, make_dynamic_quantize_matmul, nullptr, microsoft_domain},
     {"MulInteger", 1, make_mul_integer, nullptr, microsoft_domain}}};

}  // namespace

std::span<const Operator> contrib_quantized_operators() { return contrib_quantized_rows; }

}  // namespace cairn::inline v0::onnx
