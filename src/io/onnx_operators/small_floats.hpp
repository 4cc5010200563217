#pragma once

#include "io/onnx_file/element_type.hpp"

#include "cairn/graph.hpp"

/// Floats of 4 and 8 bits, which are held as their bits in u8.
namespace cairn::inline v0::onnx {

bool is_small_float(ElementType type) noexcept;
/// The values of bits, as f32.
Tensor small_float_values(const Tensor& bits, ElementType type);
/// The bits of the nearest values, ties to even, of x of f32. What is too large becomes the largest value with
/// `saturate`, or for a type that has none, else infinity or NaN. Not of FLOAT8E8M0, which has no sign.
Tensor small_float_bits(const Tensor& x, ElementType type, bool saturate);

}  // namespace cairn::inline v0::onnx
