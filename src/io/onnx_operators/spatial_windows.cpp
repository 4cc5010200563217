#include "io/onnx_operators/spatial_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

namespace cairn::inline v0::onnx {
namespace {

/// Padding of both sides with which the number of windows is the size divided by the stride, rounded up.
Dim same_padding(const Dim& size, const WindowAxis& axis) {
    if (axis.stride == 1) return axis.extent() - 1;
    if (axis.extent() == 1) return 0;
    const Dim total = (ceildiv(size, axis.stride) - 1) * axis.stride + axis.extent() - size;
    return axis.extent() >= axis.stride ? total : max(total, Dim(0));
}

/// A size that is never negative, so that this is proved.
Dim padding_at_least_zero(const Dim& size) { return provably_le(0, size) ? size : max(size, Dim(0)); }

IntList window_numbers(const Node& node, const WindowAxes& axes, std::int64_t WindowAxis::*member) {
    std::vector<int> values;
    for (const WindowAxis& axis : axes) values.push_back(small_integer(node, axis.*member));
    return values;
}

}  // namespace

int small_integer(const Node& node, std::int64_t value) {
    if (value < 0 || value > std::numeric_limits<int>::max())
        node.refuse(fmt::format("an attribute is {}, which is out of range", value));
    return static_cast<int>(value);
}

std::vector<std::int64_t> spatial_integers(const Node& node, std::string_view name, std::size_t axes,
                                           std::int64_t otherwise, std::int64_t least) {
    if (!node.has_attribute(name)) return std::vector<std::int64_t>(axes, otherwise);
    std::vector<std::int64_t> values = node.integers(name);
    if (values.size() != axes)
        node.refuse(fmt::format("its attribute {} has {} numbers for {} spatial axes", name, values.size(), axes));
    for (const std::int64_t value : values)
        if (value < least) node.refuse(fmt::format("its attribute {} has the number {}", name, value));
    return values;
}

std::vector<std::int64_t> spatial_pads(const Node& node, std::size_t axes) {
    if (!node.has_attribute("pads")) return std::vector<std::int64_t>(2 * axes, 0);
    std::vector<std::int64_t> pads = node.integers("pads");
    if (pads.size() != 2 * axes)
        node.refuse(fmt::format("its attribute pads has {} numbers for {} spatial axes", pads.size(), axes));
    if (std::ranges::any_of(pads, [](std::int64_t pad) { return pad < 0; }))
        node.refuse("its attribute pads has a negative number");
    return pads;
}

std::size_t spatial_axes(const Node& node) {
    const int rank = node.rank(0);
    if (rank < 3) node.refuse(fmt::format("its input has {} axes, but no spatial one after two", rank));
    return static_cast<std::size_t>(rank) - 2;
}

WindowAxes window_axes(const Node& node, const Shape& x, const std::vector<std::int64_t>& kernel) {
    const std::size_t count = kernel.size();
    const std::vector<std::int64_t> strides = spatial_integers(node, "strides", count, 1, 1),
                                    dilations = spatial_integers(node, "dilations", count, 1, 1);
    const std::string rule = node.text("auto_pad", "NOTSET");
    if (rule != "NOTSET" && rule != "VALID" && rule != "SAME_UPPER" && rule != "SAME_LOWER")
        node.refuse(fmt::format("its attribute auto_pad is '{}'", rule));
    const std::vector<std::int64_t> pads =
        rule == "NOTSET" ? spatial_pads(node, count) : std::vector<std::int64_t>(2 * count, 0);
    WindowAxes axes;
    for (std::size_t i = 0; i < count; ++i) {
        WindowAxis axis{kernel[i], strides[i], dilations[i], pads[i], pads[count + i]};
        if (rule == "SAME_UPPER" || rule == "SAME_LOWER") {
            const Dim total = same_padding(x[i + 2], axis), less = padding_at_least_zero(floordiv(total, 2)),
                      more = padding_at_least_zero(total - less);
            axis.before = rule == "SAME_UPPER" ? less : more;
            axis.after = rule == "SAME_UPPER" ? more : less;
        }
        axes.push_back(axis);
    }
    return axes;
}

void round_windows_up(WindowAxes& axes, const Shape& x) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
        WindowAxis& axis = axes[i];
        if (axis.stride == 1) continue;
        const Dim begun = x[i + 2] + axis.before, padded = begun + axis.after;
        const Dim count = min(ceildiv(padded - axis.extent(), axis.stride) + 1, ceildiv(begun, axis.stride));
        axis.overhang = max((count - 1) * axis.stride + axis.extent() - padded, Dim(0));
    }
}

bool is_plain_padding(const WindowAxes& axes, bool most_below_kernel) noexcept {
    return std::ranges::all_of(axes, [&](const WindowAxis& axis) {
        if (!axis.before.is_constant() || !axis.after.is_constant() || !axis.overhang.is_constant()) return false;
        return !most_below_kernel ||
               std::max(axis.before.constant(), axis.after.constant() + axis.overhang.constant()) < axis.kernel;
    });
}

Tensor with_padding(const Tensor& x, const WindowAxes& axes, double value) {
    Tensor result = x;
    for (std::size_t i = 0; i < axes.size(); ++i)
        result = pad(result, static_cast<int>(i) + 2, axes[i].before, axes[i].after + axes[i].overhang, value);
    return result;
}

Tensor windows_of(const Tensor& x, const WindowAxes& axes) {
    Tensor result = x;
    for (std::size_t i = 0; i < axes.size(); ++i)
        result = window(result, static_cast<int>(i) + 2, axes[i].kernel, axes[i].stride, axes[i].dilation);
    return result;
}

IntList strides_of(const Node& node, const WindowAxes& axes) { return window_numbers(node, axes, &WindowAxis::stride); }
IntList dilations_of(const Node& node, const WindowAxes& axes) {
    return window_numbers(node, axes, &WindowAxis::dilation);
}
IntList kernels_of(const Node& node, const WindowAxes& axes) { return window_numbers(node, axes, &WindowAxis::kernel); }

IntList paddings_of(const Node& node, const WindowAxes& axes) {
    std::vector<int> values;
    for (const WindowAxis& axis : axes) values.push_back(small_integer(node, axis.before.constant()));
    for (const WindowAxis& axis : axes) values.push_back(small_integer(node, (axis.after + axis.overhang).constant()));
    return values;
}

}  // namespace cairn::inline v0::onnx
