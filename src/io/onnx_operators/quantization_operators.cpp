#include "io/onnx_operators/operators.hpp"

#include "io/onnx_operators/contrib.hpp"
#include "io/onnx_operators/quantized.hpp"
#include "io/onnx_operators/quantized_products.hpp"
#include "io/onnx_operators/small_floats.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <array>

/// Quantization and its inverse.
namespace cairn::inline v0::onnx {
namespace {

/// A scale or zero point of QuantizeLinear and DequantizeLinear so that it broadcasts to x: of one element, a list
/// along an axis, or one for each block of an axis.
Tensor of_elements(const Node& node, const Tensor& parameter, const Shape& x) {
    if (element_count(parameter.shape()) == Dim(1)) return reshape(parameter, Shape());
    const std::int64_t block = node.integer("block_size", 0), given = node.integer("axis", 1);
    // A list has one axis.
    const auto rank = static_cast<int>(x.size());
    const int axis = rank == 1 && parameter.rank() == 1 ? 0 : node.axis(given, rank);
    if (block == 0) {
        if (parameter.rank() != 1) node.refuse("it has blocks, but no block_size");
        return aligned_parameter(node, parameter, x, axis);
    }
    const Dim& size = x[static_cast<std::size_t>(axis)];
    Shape blocks = x;
    if (block > 0) blocks[static_cast<std::size_t>(axis)] = ceildiv(size, block);
    if (block < 0 || !(parameter.shape() == blocks))
        node.refuse(fmt::format("scales or zero points {} are not of blocks of {} elements of {}",
                                to_string(parameter.shape()), block, to_string(x)));
    return of_block_elements(parameter, axis, block, size);
}

/// A float type named by an attribute; `otherwise` if that is absent or 0.
DType float_attribute(const Node& node, std::string_view name, DType otherwise) {
    const ElementType type = node.element_type(name, ElementType::undefined);
    if (type == ElementType::undefined) return otherwise;
    if (!is_float_type(type))
        node.refuse(fmt::format("its attribute {} is {}, which is no float type", name, to_string(type)));
    return *dtype_of(type);
}

/// The type of the result of QuantizeLinear.
ElementType quantized_type(const Node& node) {
    if (node.has(2)) return node.type(2);
    const ElementType type = node.element_type("output_dtype", ElementType::undefined);
    return type == ElementType::undefined ? ElementType::u8 : type;
}

void make_quantize_linear(Node& node) {
    const Tensor x = node.tensor(0);
    const ElementType type = quantized_type(node), scale_type = node.type(1);
    if (!is_float_type(scale_type) && scale_type != ElementType::f8_e8m0)
        node.refuse(fmt::format("its scale is of {}", to_string(scale_type)));
    const Tensor scale = is_float_type(scale_type) ? node.tensor(1) : quantized_values(node, 1);
    const DType precision = float_attribute(node, "precision", scale.dtype());
    // The casts round to the precision of the division; an op on 16-bit floats might keep that of f32.
    const DType divided = wide_dtype(precision);
    const Tensor divisor = of_elements(node, as_dtype(as_dtype(scale, precision), divided), x.shape());
    const Tensor quotient =
        as_dtype(as_dtype(as_dtype(as_dtype(x, precision), divided) / divisor, precision), DType::f32);
    std::optional<Tensor> zero;
    if (!is_zero(node, 2)) zero = of_elements(node, quantized_values(node, 2), x.shape());
    if (!is_small_float(type) || type == ElementType::f8_e8m0)
        return node.set(0, Value::of(rounded_to_type(node, quotient, zero, type), type));
    const bool saturate = node.integer("saturate", 1) != 0;
    node.set(0, Value::of(small_float_bits(zero.has_value() ? quotient + *zero : quotient, type, saturate), type));
}

void make_dequantize_linear(Node& node) {
    const ElementType type = node.type(0), scale_type = node.type(1);
    if (!is_float_type(scale_type) && scale_type != ElementType::f8_e8m0)
        node.refuse(fmt::format("its scale is of {}", to_string(scale_type)));
    const Shape shape = node.shape(0);
    Tensor x;
    if (is_zero(node, 2))
        x = quantized_values(node, 0);
    else if (type == ElementType::i32)  // f32 holds the difference of other types
        x = cast(quantized_integers(node, 0) - of_elements(node, quantized_integers(node, 2), shape), DType::f32);
    else
        x = quantized_values(node, 0) - of_elements(node, quantized_values(node, 2), shape);
    const Tensor scale = is_float_type(scale_type) ? node.tensor(1) : quantized_values(node, 1);
    const DType result = float_attribute(node, "output_dtype", scale.dtype());
    node.set(0, as_dtype(x * of_elements(node, as_dtype(scale, DType::f32), shape), result));
}

/// To u8, so that the range of x and 0 is all of it.
void make_dynamic_quantize_linear(Node& node) {
    const DynamicQuantization quantized = dynamically_quantized(node.tensor(0));
    node.set(0, quantized.elements);
    node.set(1, quantized.scale);
    node.set(2, cast(quantized.zero_point, DType::u8));
}

constexpr std::array<Operator, 8> quantization_rows{
    {{"QuantizeLinear", 10, make_quantize_linear},
     {"DequantizeLinear", 10, make_dequantize_linear},
     {"DynamicQuantizeLinear", 11, make_dynamic_quantize_linear},
     {"MatMulInteger", 10, make_matmul_integer},
     {"QLinearMatMul", 10, make_qlinear_matmul},
     {"QLinearConv", 10, make_qlinear_conv},
     {"QuantizeLinear", 1, make_quantize_linear, nullptr, microsoft_domain},
     {"DequantizeLinear", 1, make_dequantize_linear, nullptr, microsoft_domain}}};

}  // namespace

std::span<const Operator> quantization_operators() { return quantization_rows; }

}  // namespace cairn::inline v0::onnx
