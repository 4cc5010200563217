#include "io/onnx_operators/convolutions.hpp"
#include "io/onnx_operators/operators.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace cairn::inline v0::onnx {
namespace {

/// Convolution over three or more axes, as a product of the filters and the windows of x.
Tensor convolve_windows(const Node& node, const Tensor& x, const Tensor& w, const WindowAxes& axes,
                        std::int64_t groups) {
    const Tensor windows = windows_of(with_padding(x, axes, 0), axes);
    const int count = static_cast<int>(axes.size());
    std::vector<int> order{0, 1};
    Dim taps = x.dim(1), positions = 1;
    Shape shape{x.dim(0), w.dim(0)};
    for (int i = 0; i < count; ++i) {
        order.push_back(2 + count + i);
        taps *= windows.dim(2 + count + i);
        positions *= windows.dim(2 + i);
        shape.push_back(windows.dim(2 + i));
    }
    for (int i = 0; i < count; ++i) order.push_back(2 + i);
    const Tensor columns = reshape(transpose(windows, order), {x.dim(0), taps, positions});
    return reshape(grouped_product(node, w, columns, groups), shape);
}

void make_conv(Node& node) {
    const std::size_t axes = spatial_axes(node);
    const Tensor x = node.tensor(0), w = node.tensor(1);
    if (node.rank(1) != node.rank(0))
        node.refuse(fmt::format("its filters have {} axes for {} spatial ones", node.rank(1), axes));
    const WindowAxes windows = window_axes(node, x.shape(), filter_sizes(node, w.shape()));
    node.set(0, convolve(node, x, w, node.optional_tensor(2), windows, node.integer("group", 1)));
}

/// An input of ConvInteger as i32, less its zero point. A zero point of one axis is one for each filter.
Tensor conv_without_zero_point(const Node& node, std::size_t input, std::size_t zero_point) {
    const Tensor x = cast(node.tensor(input), DType::i32);
    if (!node.has(zero_point)) return x;
    const Tensor zero = cast(node.tensor(zero_point), DType::i32);
    if (element_count(zero.shape()) == Dim(1)) return x - reshape(zero, Shape());
    if (input == 0 || zero.rank() != 1 || !(zero.dim(0) == x.dim(0)))
        node.refuse("its zero point is neither one number nor one for each filter");
    Shape shape(x.shape().size(), Dim(1));
    shape[0] = zero.dim(0);
    return x - reshape(zero, shape);
}

void make_conv_integer(Node& node) {
    const std::size_t axes = spatial_axes(node);
    if (node.rank(1) != node.rank(0))
        node.refuse(fmt::format("its filters have {} axes for {} spatial ones", node.rank(1), axes));
    const Tensor x = conv_without_zero_point(node, 0, 2), w = conv_without_zero_point(node, 1, 3);
    const WindowAxes windows = window_axes(node, x.shape(), filter_sizes(node, w.shape()));
    node.set(0, convolve(node, x, w, std::nullopt, windows, node.integer("group", 1)));
}

/// The state holds the elements before the input, so that windows end at each of its positions.
void make_causal_conv(Node& node) {
    const Tensor x = node.tensor(0), w = node.tensor(1);
    if (x.rank() != 3 || w.rank() != 3) node.refuse("its input and weight must have three axes");
    const std::int64_t kernel = filter_sizes(node, w.shape())[0];
    const Dim channels = w.dim(0);
    if (!channels.is_constant()) node.refuse("its weight has a symbolic number of channels " + to_string(channels));
    const std::string activation = node.text("activation", "none");
    if (activation != "none" && activation != "silu" && activation != "swish")
        node.refuse(fmt::format("its activation is '{}'", activation));
    if (node.has(3) && !(node.tensor(3).dim(2) == Dim(kernel - 1)))
        node.refuse(
            fmt::format("its past_state is {}, but its kernel has {} elements", to_string(node.shape(3)), kernel));
    const Tensor wide = node.has(3) ? concat({node.tensor(3), x}, 2) : pad(x, 2, kernel - 1, 0);
    const Tensor y = convolve(node, wide, w, node.optional_tensor(2), {WindowAxis{kernel}}, channels.constant());
    node.set(0, activation == "none" ? y : silu(y));
    node.set(1, slice(wide, 2, wide.dim(2) - (kernel - 1), wide.dim(2)));
}

constexpr std::array<Operator, 6> convolution_rows{{{"Conv", 1, make_conv},
                                                    {"ConvTranspose", 1, make_conv_transpose},
                                                    {"ConvInteger", 10, make_conv_integer},
                                                    {"DeformConv", 19, make_deform_conv},
                                                    {"Col2Im", 18, make_col2im},
                                                    {"CausalConvWithState", 27, make_causal_conv}}};

}  // namespace

std::vector<std::int64_t> filter_sizes(const Node& node, const Shape& w) {
    std::vector<std::int64_t> sizes;
    for (std::size_t axis = 2; axis < w.size(); ++axis) {
        if (!w[axis].is_constant() || w[axis].constant() < 1)
            node.refuse(fmt::format("its kernels have the size {}", to_string(w[axis])));
        sizes.push_back(w[axis].constant());
    }
    if (node.has_attribute("kernel_shape") && node.integers("kernel_shape") != sizes)
        node.refuse("its attribute kernel_shape is not the shape of its kernels");
    return sizes;
}

Tensor convolve(const Node& node, const Tensor& x, const Tensor& w, const std::optional<Tensor>& bias,
                const WindowAxes& axes, std::int64_t groups) {
    if (axes.size() > 2) return with_channel_bias(node, convolve_windows(node, x, w, axes, groups), bias);
    ConvOptions options{
        .stride = strides_of(node, axes), .dilation = dilations_of(node, axes), .groups = small_integer(node, groups)};
    const bool is_plain = is_plain_padding(axes, false);
    if (is_plain) options.padding = paddings_of(node, axes);
    const Tensor padded = is_plain ? x : with_padding(x, axes, 0);
    if (axes.size() == 1) return bias ? conv1d(padded, w, *bias, options) : conv1d(padded, w, options);
    return bias ? conv2d(padded, w, *bias, options) : conv2d(padded, w, options);
}

Tensor grouped_product(const Node& node, const Tensor& w, const Tensor& columns, std::int64_t groups) {
    Dim taps = 1;
    for (int axis = 1; axis < w.rank(); ++axis) taps *= w.dim(axis);
    const Dim filters = w.dim(0), inside = filters / groups;
    if (groups < 1 || !(inside * groups == filters) || !(taps * groups == columns.dim(1)))
        node.refuse(fmt::format("its filters {} do not fit its input in {} groups", to_string(w.shape()), groups));
    const Tensor grouped = reshape(columns, {columns.dim(0), groups, taps, columns.dim(2)});
    const Tensor product = matmul(reshape(w, {groups, inside, taps}), grouped);
    return reshape(product, {columns.dim(0), filters, columns.dim(2)});
}

Tensor with_channel_bias(const Node& node, const Tensor& y, const std::optional<Tensor>& bias) {
    if (!bias.has_value()) return y;
    if (bias->rank() != 1 || !(bias->dim(0) == y.dim(1)))
        node.refuse(fmt::format("its bias {} is not one number for each of {} channels", to_string(bias->shape()),
                                to_string(y.dim(1))));
    Shape shape(y.shape().size() - 1, Dim(1));
    shape[0] = y.dim(1);
    return y + reshape(*bias, shape);
}

std::span<const Operator> convolution_operators() { return convolution_rows; }

}  // namespace cairn::inline v0::onnx
