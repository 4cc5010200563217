#include "io/onnx_operators/quantized_products.hpp"

#include "io/onnx_operators/convolutions.hpp"
#include "io/onnx_operators/products.hpp"
#include "io/onnx_operators/quantized.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::onnx {
DynamicQuantization dynamically_quantized(const Tensor& x) {
    const Tensor low = min(min_reduce(x), 0), high = max(max_reduce(x), 0);
    // Where all elements are zero, every scale will do.
    const Tensor scale = where(high == low, 1, (high - low) / 255);
    const Tensor zero_point = round(clamp(0 - low / scale, 0, 255));
    return {cast(clamp(round(x / scale) + zero_point, 0, 255), DType::u8), scale, zero_point};
}

void make_matmul_integer(Node& node) {
    node.set(0, numpy_matmul(node, integers_less_zero_point(node, 0, 2, -2), integers_less_zero_point(node, 1, 3, -1)));
}

void make_qlinear_matmul(Node& node) {
    const Tensor a = integers_less_zero_point(node, 0, 2, -2), b = integers_less_zero_point(node, 3, 5, -1);
    const Tensor scale =
        aligned_scale(node, 1, a.shape(), -2) * aligned_scale(node, 4, b.shape(), -1) / single_scale(node, 6);
    set_rounded(node, 0, cast(numpy_matmul(node, a, b), DType::f32) * scale, 7);
}

void make_qlinear_conv(Node& node) {
    const Tensor x = integers_less_zero_point(node, 0, 2, 0), w = integers_less_zero_point(node, 3, 5, 0);
    spatial_axes(node);
    if (w.rank() != x.rank()) node.refuse(fmt::format("its filters have rank {} and its input {}", w.rank(), x.rank()));
    const WindowAxes windows = window_axes(node, x.shape(), filter_sizes(node, w.shape()));
    const Tensor y = convolve(node, x, w, node.optional_tensor(8), windows, node.integer("group", 1));
    const Tensor scale = single_scale(node, 1) * aligned_scale(node, 4, y.shape(), 1) / single_scale(node, 6);
    set_rounded(node, 0, cast(y, DType::f32) * scale, 7);
}

void make_matmul_integer_to_float(Node& node) {
    const Tensor a = integers_less_zero_point(node, 0, 4, -2), b = integers_less_zero_point(node, 1, 5, -1);
    const Tensor scale = single_scale(node, 2) * aligned_scale(node, 3, b.shape(), -1);
    const Tensor y = cast(numpy_matmul(node, a, b), DType::f32) * scale;
    node.set(0, as_dtype(node.has(6) ? y + as_dtype(node.tensor(6), DType::f32) : y, node.dtype(2)));
}

void make_dynamic_quantize_matmul(Node& node) {
    const DynamicQuantization quantized = dynamically_quantized(as_dtype(node.tensor(0), DType::f32));
    const Tensor a = cast(quantized.elements, DType::i32) - cast(quantized.zero_point, DType::i32);
    const Tensor b = integers_less_zero_point(node, 1, 3, -1);
    const Tensor scale = quantized.scale * aligned_scale(node, 2, b.shape(), -1);
    const Tensor y = cast(numpy_matmul(node, a, b), DType::f32) * scale;
    node.set(0, as_dtype(node.has(4) ? y + as_dtype(node.tensor(4), DType::f32) : y, node.dtype(0)));
}

/// (a b + c) * alpha * scales, where c is of i32. Without a scale of the result it is f32.
void make_qgemm(Node& node) {
    const bool is_b_transposed = node.integer("transB", 0) != 0;
    Tensor a = integers_less_zero_point(node, 0, 2, 0);
    Tensor b = integers_less_zero_point(node, 3, 5, is_b_transposed ? 0 : 1);
    if (a.rank() != 2 || b.rank() != 2) node.refuse("its operands must be matrices");
    if (node.integer("transA", 0) != 0) a = transpose(a, {1, 0});
    if (is_b_transposed) b = transpose(b, {1, 0});
    Tensor y = matmul(a, b);
    if (node.has(6)) y = y + broadcast(quantized_integers(node, 6), y.shape());
    const Tensor scale = single_scale(node, 1) * aligned_scale(node, 4, b.shape(), 1) * node.real("alpha", 1);
    if (!node.has(7)) return node.set(0, cast(y, DType::f32) * scale);
    set_rounded(node, 0, cast(y, DType::f32) * (scale / single_scale(node, 7)), 8);
}

}  // namespace cairn::inline v0::onnx
