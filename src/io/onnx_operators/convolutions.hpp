#pragma once

#include "io/onnx_operators/spatial_windows.hpp"

#include <cstdint>
#include <optional>

/// Convolutions, and what is made of them.
namespace cairn::inline v0::onnx {

/// Convolution of x [N, C, D1, ..] with filters w [M, C / groups, K1, ..], and a bias [M].
Tensor convolve(const Node& node, const Tensor& x, const Tensor& w, const std::optional<Tensor>& bias,
                const WindowAxes& axes, std::int64_t groups);
/// The product of filters w [M, C / groups, K1, ..] and columns of windows [N, C * K1 * .., positions], in groups:
/// [N, M, positions].
Tensor grouped_product(const Node& node, const Tensor& w, const Tensor& columns, std::int64_t groups);
/// y [N, M, ..] plus a bias [M], if there is one.
Tensor with_channel_bias(const Node& node, const Tensor& y, const std::optional<Tensor>& bias);
/// Sizes of the kernels of w, at the axes from 2 on; refuses symbolic and empty ones, and ones that differ from the
/// attribute kernel_shape.
std::vector<std::int64_t> filter_sizes(const Node& node, const Shape& w);

/// Blocks and their positions, axes `axis` [K] and `axis` + 1 [L] of x, added into one axis: element l * stride + k *
/// dilation is the sum of all x[.., k, l, ..]. Its size is (L - 1) * stride + dilation * (K - 1) + 1, for L > 0.
Tensor overlap_add(const Tensor& x, int axis, std::int64_t stride, std::int64_t dilation);
/// The overlap_add of the blocks of an image: x [N, C, K1, .., L1, ..] to [N, C, D1, ..].
Tensor image_of_blocks(const Tensor& x, const WindowAxes& axes);

void make_conv_transpose(Node& node);
void make_col2im(Node& node);
void make_deform_conv(Node& node);

}  // namespace cairn::inline v0::onnx
