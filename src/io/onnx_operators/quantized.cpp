#include "io/onnx_operators/quantized.hpp"

#include "io/onnx_operators/small_floats.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::inline v0::onnx {
namespace {

/// Elements that are known at import as a constant of i32, whose type may have no dtype.
Tensor known_as_i32(Node& node, const Known& known) {
    Known integers = known;
    integers.type = ElementType::i32;
    return tensor_of(integers, node.graph());
}

}  // namespace

std::optional<QuantizedRange> quantized_range(ElementType type) noexcept {
    switch (type) {
        case ElementType::u8: return QuantizedRange{DType::u8, 0, 255};
        case ElementType::i8: return QuantizedRange{DType::i8, -128, 127};
        case ElementType::u4: return QuantizedRange{DType::u8, 0, 15};
        case ElementType::i4: return QuantizedRange{DType::i8, -8, 7};
        case ElementType::u2: return QuantizedRange{DType::u8, 0, 3};
        case ElementType::i2: return QuantizedRange{DType::i8, -2, 1};
        case ElementType::u16: return QuantizedRange{DType::i32, 0, 65535};
        case ElementType::i16: return QuantizedRange{DType::i32, -32768, 32767};
        default: return std::nullopt;
    }
}

Tensor quantized_integers(Node& node, std::size_t input) {
    const ElementType type = node.type(input);
    if (type != ElementType::i32 && !quantized_range(type).has_value())
        node.refuse(fmt::format("input {} is of {}, which is no quantized integer", input, to_string(type)));
    const bool is_wide = type == ElementType::u16 || type == ElementType::i16;
    if (is_wide && node.known(input) != nullptr) return known_as_i32(node, node.elements(input));
    return as_dtype(node.held(input), DType::i32);
}

Tensor quantized_values(Node& node, std::size_t input) {
    const ElementType type = node.type(input);
    if (is_small_float(type)) return small_float_values(node.held(input), type);
    if (type == ElementType::u16 || type == ElementType::i16 || !quantized_range(type).has_value())
        return cast(quantized_integers(node, input), DType::f32);
    return cast(node.held(input), DType::f32);
}

bool is_zero(const Node& node, std::size_t input) {
    if (!node.has(input)) return true;
    const Known* const known = node.known(input);
    return known != nullptr && !known->is_float() &&
           std::ranges::all_of(known->integers, [](const Dim& dim) { return dim == Dim(0); });
}

Tensor aligned_parameter(const Node& node, const Tensor& parameter, const Shape& x, int axis) {
    if (element_count(parameter.shape()) == Dim(1)) return reshape(parameter, Shape());
    const auto rank = static_cast<int>(x.size());
    if (parameter.rank() == rank && rank > 1) return parameter;
    const int counted = axis < 0 ? axis + rank : axis;
    if (parameter.rank() == 1 && counted >= 0 && counted < rank) {
        const Dim& size = x[static_cast<std::size_t>(counted)];
        if (parameter.dim(0) == size) {
            Shape line(x.size(), 1);
            line[static_cast<std::size_t>(counted)] = size;
            return reshape(parameter, line);
        }
    }
    node.refuse(fmt::format("a scale or zero point {} does not fit {} along axis {}", to_string(parameter.shape()),
                            to_string(x), axis));
}

Tensor of_block_elements(const Tensor& parameter, int axis, std::int64_t block, const Dim& size) {
    const Tensor repeated = repeat(parameter, block, axis);
    return repeated.dim(axis) == size ? repeated : cairn::slice(repeated, axis, 0, size);
}

Tensor integers_less_zero_point(Node& node, std::size_t input, std::size_t zero_point, int axis) {
    const Tensor x = quantized_integers(node, input);
    if (is_zero(node, zero_point)) return x;
    return x - aligned_parameter(node, quantized_integers(node, zero_point), x.shape(), axis);
}

Tensor aligned_scale(Node& node, std::size_t input, const Shape& x, int axis) {
    return aligned_parameter(node, as_dtype(node.tensor(input), DType::f32), x, axis);
}

Tensor single_scale(Node& node, std::size_t input) {
    if (!(element_count(node.shape(input)) == Dim(1)))
        node.refuse(
            fmt::format("input {}, a scale, is {} instead of one element", input, to_string(node.shape(input))));
    return reshape(as_dtype(node.tensor(input), DType::f32), Shape());
}

Tensor dequantized_input(Node& node, std::size_t first) {
    return cast(integers_less_zero_point(node, first, first + 2, 0), DType::f32) * single_scale(node, first + 1);
}

Tensor rounded_to_type(const Node& node, const Tensor& x, const std::optional<Tensor>& zero_point, ElementType type) {
    const std::optional<QuantizedRange> range = quantized_range(type);
    if (!range.has_value()) node.refuse(fmt::format("it rounds to {}", to_string(type)));
    const Tensor whole = round(x);
    return cast(clamp(zero_point.has_value() ? whole + *zero_point : whole, range->low, range->high), range->holder);
}

void set_rounded(Node& node, std::size_t output, const Tensor& x, std::size_t zero_point) {
    const ElementType type = node.has(zero_point) ? node.type(zero_point) : ElementType::u8;
    std::optional<Tensor> zero;
    if (!is_zero(node, zero_point)) {
        zero = quantized_values(node, zero_point);
        if (!(element_count(zero->shape()) == Dim(1)))
            node.refuse(fmt::format("input {}, a zero point, is {} instead of one element", zero_point,
                                    to_string(zero->shape())));
        zero = reshape(*zero, Shape());
    }
    node.set(output, Value::of(rounded_to_type(node, x, zero, type), type));
}

}  // namespace cairn::inline v0::onnx
