#pragma once

#include "io/onnx_node/node.hpp"

/// Products of quantized elements: sums of integers, exact in i32.
namespace cairn::inline v0::onnx {

/// x of f32 as u8, so that the range of x and 0 is all of it.
struct DynamicQuantization {
    Tensor elements;           ///< u8
    Tensor scale, zero_point;  ///< scalars of f32
};
DynamicQuantization dynamically_quantized(const Tensor& x);

void make_matmul_integer(Node& node);
void make_qlinear_matmul(Node& node);
void make_qlinear_conv(Node& node);

// Of com.microsoft.
void make_matmul_integer_to_float(Node& node);
void make_dynamic_quantize_matmul(Node& node);
void make_qgemm(Node& node);

}  // namespace cairn::inline v0::onnx
