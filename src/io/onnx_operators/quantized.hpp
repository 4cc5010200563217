#pragma once

#include "io/onnx_node/node.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

/// Quantized elements: integers, or floats of 4 or 8 bits, that stand for (element - zero point) * scale.
namespace cairn::inline v0::onnx {

/// An integer type that elements are quantized to. `holder` holds its elements; i32 those of 16 bits.
struct QuantizedRange {
    DType holder;
    std::int64_t low, high;
};
/// Empty for types that are no integers of 2 to 16 bits.
std::optional<QuantizedRange> quantized_range(ElementType type) noexcept;

/// The elements of an input of quantized integers, or of i32, as i32.
Tensor quantized_integers(Node& node, std::size_t input);
/// The elements of an input of a quantized type as f32.
Tensor quantized_values(Node& node, std::size_t input);
/// True if the input is absent, or known to hold zeros only.
bool is_zero(const Node& node, std::size_t input);

/// A scale or zero point so that it broadcasts to `x`: of one element as a scalar, a list along `axis`, one of the rank
/// of x as it is. Refuses others.
Tensor aligned_parameter(const Node& node, const Tensor& parameter, const Shape& x, int axis);
/// A scale or zero point of each of `size` elements along an axis, from those of blocks of `block` elements.
Tensor of_block_elements(const Tensor& parameter, int axis, std::int64_t block, const Dim& size);
/// An input of integers less its zero point: i32. The latter may be absent, and of one element or aligned along `axis`.
Tensor integers_less_zero_point(Node& node, std::size_t input, std::size_t zero_point, int axis);
/// An input that is a scale, as f32, aligned to `x` along `axis`.
Tensor aligned_scale(Node& node, std::size_t input, const Shape& x, int axis);
/// An input that is a scale of one element, as a scalar of f32.
Tensor single_scale(Node& node, std::size_t input);
/// (x - zero point) * scale of one element each: f32. `first` is x, and the inputs after it scale and zero point.
Tensor dequantized_input(Node& node, std::size_t first);

/// saturate(round(x) + zero point) of x of f32, ties to even, in the holder of an integer type. The zero point, of f32,
/// broadcasts to x.
Tensor rounded_to_type(const Node& node, const Tensor& x, const std::optional<Tensor>& zero_point, ElementType type);
/// Sets an output to rounded_to_type with a zero point of one element that is an input, which may be absent: u8 then.
void set_rounded(Node& node, std::size_t output, const Tensor& x, std::size_t zero_point);

}  // namespace cairn::inline v0::onnx
