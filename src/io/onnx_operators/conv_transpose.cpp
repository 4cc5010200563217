#include "io/onnx_operators/convolutions.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace cairn::inline v0::onnx {
namespace {

/// The part of the whole result that a transposed convolution gives along one axis: without the first `before` and the
/// last `behind` elements; a negative `behind` adds zeros.
struct TransposedAxis {
    std::int64_t before = 0, behind = 0;
};

/// The part for a stated size, of which the whole result has `total` elements more.
TransposedAxis transposed_axis_of_size(const Node& node, std::int64_t total, std::int64_t output_padding,
                                       const WindowAxis& axis, std::string_view rule) {
    if (total < 0) {
        // Only without `auto_pad` it is sure where the missing elements are: at the end, as for output_padding.
        if (rule != "NOTSET" || -total >= std::max(axis.stride, axis.dilation))
            node.refuse("its output is larger than its input and its kernel give");
        return {0, total - output_padding};
    }
    const std::int64_t before = rule == "SAME_UPPER" ? total / 2 : total - total / 2;
    return {before, total - before - output_padding};
}

std::vector<TransposedAxis> transposed_axes(const Node& node, const Shape& x, const WindowAxes& axes) {
    const std::size_t count = axes.size();
    const std::string rule = node.text("auto_pad", "NOTSET");
    const bool is_same = rule == "SAME_UPPER" || rule == "SAME_LOWER";
    if (!is_same && rule != "NOTSET" && rule != "VALID")
        node.refuse(fmt::format("its attribute auto_pad is '{}'", rule));
    const std::vector<std::int64_t> more = spatial_integers(node, "output_padding", count, 0, 0);
    std::vector<std::int64_t> output;
    if (node.has_attribute("output_shape")) output = node.integers("output_shape");
    // Some exporters write the sizes of the batch and the channels too.
    if (output.size() == count + 2) output.erase(output.begin(), output.begin() + 2);
    if (!output.empty() && output.size() != count)
        node.refuse(fmt::format("its attribute output_shape has {} numbers for {} spatial axes", output.size(), count));
    const std::vector<std::int64_t> pads =
        rule == "NOTSET" && output.empty() ? spatial_pads(node, count) : std::vector<std::int64_t>(2 * count, 0);
    std::vector<TransposedAxis> result;
    for (std::size_t i = 0; i < count; ++i) {
        if (output.empty() && !is_same) {
            result.push_back({pads[i], pads[count + i] - more[i]});
            continue;
        }
        const Dim wanted = output.empty() ? x[i + 2] * axes[i].stride : Dim(output[i]);
        const Dim total = (x[i + 2] - 1) * axes[i].stride + axes[i].extent() + more[i] - wanted;
        if (!total.is_constant()) node.refuse(fmt::format("its padding depends on the size {}", to_string(x[i + 2])));
        result.push_back(transposed_axis_of_size(node, total.constant(), more[i], axes[i], rule));
    }
    return result;
}

/// Over three or more axes: the products of all elements and filters, added at their places.
Tensor transpose_convolution(const Node& node, const Tensor& x, const Tensor& w, const WindowAxes& axes,
                             const std::vector<TransposedAxis>& parts, std::int64_t groups) {
    const Dim inside = x.dim(1) / groups, outside = w.dim(1);
    if (!(inside * groups == x.dim(1)) || !(w.dim(0) == x.dim(1)))
        node.refuse(fmt::format("its filters {} do not fit its input in {} groups", to_string(w.shape()), groups));
    Dim taps = outside, positions = 1;
    Shape shape{x.dim(0), outside * groups};
    for (std::size_t i = 0; i < axes.size(); ++i) {
        taps *= axes[i].kernel;
        positions *= x.shape()[i + 2];
        shape.emplace_back(axes[i].kernel);
    }
    for (std::size_t i = 0; i < axes.size(); ++i) shape.push_back(x.shape()[i + 2]);
    const Tensor filters = swap_axes(reshape(w, {groups, inside, taps}), 1, 2);
    const Tensor product = matmul(filters, reshape(x, {x.dim(0), groups, inside, positions}));
    Tensor y = image_of_blocks(reshape(product, shape), axes);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const int axis = static_cast<int>(i) + 2;
        const auto [before, behind] = parts[i];
        if (behind < 0) y = pad(y, axis, 0, -behind);
        y = slice(y, axis, before, y.dim(axis) - std::max<std::int64_t>(behind, 0));
    }
    return y;
}

}  // namespace

void make_conv_transpose(Node& node) {
    const std::size_t count = spatial_axes(node);
    const Tensor x = node.tensor(0), w = node.tensor(1);
    if (w.rank() != x.rank()) node.refuse(fmt::format("its filters have {} axes for {} spatial ones", w.rank(), count));
    const std::vector<std::int64_t> kernel = filter_sizes(node, w.shape()),
                                    strides = spatial_integers(node, "strides", count, 1, 1),
                                    dilations = spatial_integers(node, "dilations", count, 1, 1);
    const std::int64_t groups = node.integer("group", 1);
    if (groups < 1) node.refuse(fmt::format("its attribute group is {}", groups));
    WindowAxes axes;
    for (std::size_t i = 0; i < count; ++i) axes.push_back({kernel[i], strides[i], dilations[i]});
    const std::vector<TransposedAxis> parts = transposed_axes(node, x.shape(), axes);
    const std::optional<Tensor> bias = node.optional_tensor(2);
    if (count > 2) {
        const std::optional<Tensor> wide = bias.has_value() ? std::optional(wide_of(*bias)) : bias;
        const Tensor y = transpose_convolution(node, wide_of(x), wide_of(w), axes, parts, groups);
        return node.set(0, as_dtype(with_channel_bias(node, y, wide), x.dtype()));
    }
    std::vector<int> padding, more;
    for (const TransposedAxis& part : parts) {
        padding.push_back(small_integer(node, part.before));
        more.push_back(small_integer(node, std::max<std::int64_t>(-part.behind, 0)));
    }
    for (const TransposedAxis& part : parts)
        padding.push_back(small_integer(node, std::max<std::int64_t>(part.behind, 0)));
    const ConvOptions options{.stride = strides_of(node, axes),
                              .padding = padding,
                              .dilation = dilations_of(node, axes),
                              .groups = small_integer(node, groups),
                              .output_padding = more};
    if (count == 1)
        node.set(0, bias ? conv_transpose1d(x, w, *bias, options) : conv_transpose1d(x, w, options));
    else
        node.set(0, bias ? conv_transpose2d(x, w, *bias, options) : conv_transpose2d(x, w, options));
}

}  // namespace cairn::inline v0::onnx
