#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/pooling.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <numeric>

namespace cairn::inline v0::onnx {
namespace {

std::vector<int> window_axes_of_pool(const WindowAxes& axes) {
    std::vector<int> result;
    for (std::size_t i = 1; i <= axes.size(); ++i) result.push_back(-static_cast<int>(i));
    return result;
}

void make_max_pool(Node& node) {
    const Tensor x = node.tensor(0);
    const WindowAxes axes = pooling_windows(node);
    if (x.dtype() == DType::boolean) node.refuse("booleans have no maximum");
    PoolOptions options{.stride = strides_of(node, axes), .dilation = dilations_of(node, axes)};
    const bool is_plain = is_plain_padding(axes, true);
    if (is_plain) options.padding = paddings_of(node, axes);
    node.set(0, max_pool(is_plain ? x : with_padding(x, axes, below_all_elements(x.dtype())), kernels_of(node, axes),
                         options));
    if (node.wants(1)) node.set(1, max_pool_indices(node, x, axes));
}

/// Number of elements that count in each window along axis `i`, in f32 or f64: broadcasts to [N, C, P1, ..].
Tensor counted_elements(const Tensor& x, const WindowAxes& axes, std::size_t i, bool counts_padding) {
    const WindowAxis& axis = axes[i];
    const Tensor ones = broadcast(Graph(x.graph()).constant(x.dtype(), 1), {x.shape()[i + 2]});
    const Tensor padded = pad(pad(ones, 0, axis.before, axis.after, counts_padding ? 1 : 0), 0, 0, axis.overhang);
    const Tensor counts = sum(window(padded, 0, axis.kernel, axis.stride, axis.dilation), -1);
    Shape shape(axes.size() - i, Dim(1));
    shape[0] = counts.dim(0);
    return reshape(counts, shape);
}

/// The mean of windows whose padding the composite does not take.
Tensor average_windows(const Tensor& x, const WindowAxes& axes, bool counts_padding) {
    const Tensor wide = float_of(x);
    Tensor result = sum(windows_of(with_padding(wide, axes, 0), axes), window_axes_of_pool(axes));
    for (std::size_t i = 0; i < axes.size(); ++i) result = result / counted_elements(wide, axes, i, counts_padding);
    return cast(result, x.dtype());
}

void make_average_pool(Node& node) {
    const Tensor x = node.tensor(0);
    const WindowAxes axes = pooling_windows(node);
    if (!is_float(x.dtype())) node.refuse("means of integers are not defined");
    const bool counts_padding = node.integer("count_include_pad", 0) != 0,
               rounds_up = node.integer("ceil_mode", 0) != 0;
    WindowAxes padded = axes;
    bool has_constant_sizes = true;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        padded[i].overhang = 0;
        has_constant_sizes = has_constant_sizes && x.shape()[i + 2].is_constant();
    }
    if (!is_plain_padding(padded, true) || (rounds_up && !has_constant_sizes))
        return node.set(0, average_windows(x, axes, counts_padding));
    node.set(0, avg_pool(x, kernels_of(node, axes),
                         {.stride = strides_of(node, axes),
                          .padding = paddings_of(node, padded),
                          .dilation = dilations_of(node, axes),
                          .ceil_mode = rounds_up,
                          .count_padding = counts_padding}));
}

/// (sum |x|^p)^(1/p) over `axes`.
Tensor pool_power_norm(const Node& node, const Tensor& x, const std::vector<int>& axes, bool keepdims) {
    const std::int64_t p = node.integer("p", 2);
    if (p < 1) node.refuse(fmt::format("its attribute p is {}", p));
    if (p == 1) return sum(abs(x), axes, keepdims);
    if (p == 2) return sqrt(sum(x * x, axes, keepdims));
    return pow(sum(pow(abs(x), Operand(static_cast<double>(p))), axes, keepdims), Operand(1 / static_cast<double>(p)));
}

void make_lp_pool(Node& node) {
    const Tensor x = node.tensor(0);
    const WindowAxes axes = pooling_windows(node);
    if (!is_float(x.dtype())) node.refuse("norms of integers are not defined");
    const Tensor wide = float_of(x);
    const Tensor windows = windows_of(with_padding(wide, axes, 0), axes);
    node.set(0, cast(pool_power_norm(node, windows, window_axes_of_pool(axes), false), x.dtype()));
}

std::vector<int> global_pool_axes(const Node& node) {
    if (node.rank(0) < 2) node.refuse("its input has no channels");
    std::vector<int> axes(static_cast<std::size_t>(node.rank(0)) - 2);
    std::iota(axes.begin(), axes.end(), 2);
    return axes;
}

void make_global_average_pool(Node& node) {
    const std::vector<int> axes = global_pool_axes(node);
    node.set(0, axes.empty() ? node.tensor(0) : mean(node.tensor(0), axes, true));
}

void make_global_max_pool(Node& node) {
    const std::vector<int> axes = global_pool_axes(node);
    node.set(0, axes.empty() ? node.tensor(0) : max_reduce(node.tensor(0), axes, true));
}

void make_global_lp_pool(Node& node) {
    const std::vector<int> axes = global_pool_axes(node);
    const Tensor x = node.tensor(0);
    if (axes.empty()) return node.set(0, abs(x));
    const Tensor wide = float_of(x);
    node.set(0, cast(pool_power_norm(node, wide, axes, true), x.dtype()));
}

constexpr std::array<Operator, 7> pooling_rows{{{"MaxPool", 1, make_max_pool},
                                                {"AveragePool", 7, make_average_pool},
                                                {"LpPool", 2, make_lp_pool},
                                                {"GlobalAveragePool", 1, make_global_average_pool},
                                                {"GlobalMaxPool", 1, make_global_max_pool},
                                                {"GlobalLpPool", 2, make_global_lp_pool},
                                                {"MaxUnpool", 9, make_max_unpool}}};

}  // namespace

WindowAxes pooling_windows(const Node& node) {
    const std::size_t count = spatial_axes(node);
    if (!node.has_attribute("kernel_shape")) node.refuse("its attribute kernel_shape is missing");
    WindowAxes axes = window_axes(node, node.shape(0), spatial_integers(node, "kernel_shape", count, 1, 1));
    for (const WindowAxis& axis : axes)
        for (const Dim& padding : {axis.before, axis.after})
            if (padding.is_constant() && padding.constant() >= axis.extent())
                node.refuse("its padding holds whole windows");
    if (node.integer("ceil_mode", 0) != 0) round_windows_up(axes, node.shape(0));
    return axes;
}

double below_all_elements(DType dtype) noexcept {
    switch (dtype) {
        case DType::i64: return -0x1p63;
        case DType::i32: return -0x1p31;
        case DType::i8: return -128;
        case DType::u8:
        case DType::boolean: return 0;
        default: return -std::numeric_limits<double>::infinity();
    }
}

std::span<const Operator> pooling_operators() { return pooling_rows; }

}  // namespace cairn::inline v0::onnx
