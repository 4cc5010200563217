#include "io/onnx_operators/pooling.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::onnx {
namespace {

/// The windows of x as one axis at the end: [N, C, P1, .., K1 * K2 ..].
Tensor flat_windows(const Tensor& windows, std::size_t axes) {
    Shape shape(windows.shape().begin(), windows.shape().end() - static_cast<std::ptrdiff_t>(axes));
    shape.push_back(
        element_count(Shape(windows.shape().end() - static_cast<std::ptrdiff_t>(axes), windows.shape().end())));
    return reshape(windows, shape);
}

/// True where a window's element is one of x, not padding: broadcasts to flat windows.
Tensor element_windows(const Tensor& x, const WindowAxes& axes) {
    Shape ones = x.shape();
    ones[0] = ones[1] = 1;
    const Tensor inside = broadcast(Graph(x.graph()).constant(DType::boolean, 1), ones);
    return flat_windows(windows_of(with_padding(inside, axes, 0), axes), axes.size());
}

/// The number within each window of its first maximum, as i64. NaN is above all numbers; padding is no candidate, even
/// if all elements are as low.
Tensor first_maximum(const Tensor& x, const WindowAxes& axes) {
    const Tensor windows =
        flat_windows(windows_of(with_padding(x, axes, below_all_elements(x.dtype())), axes), axes.size());
    bool is_padded = false;
    for (const WindowAxis& axis : axes)
        is_padded = is_padded || !(axis.before == Dim(0) && axis.after + axis.overhang == Dim(0));
    if (!is_padded) return cast(argmax(windows, -1), DType::i64);
    Tensor is_maximum = windows == max_reduce(windows, -1, true);
    if (is_float(x.dtype())) is_maximum = is_maximum || windows != windows;
    return cast(argmax(cast(is_maximum && element_windows(x, axes), DType::i32), -1), DType::i64);
}

}  // namespace

Tensor max_pool_indices(const Node& node, const Tensor& x, const WindowAxes& axes) {
    const std::int64_t order = node.integer("storage_order", 0);
    if (order != 0 && order != 1) node.refuse(fmt::format("its attribute storage_order is {}", order));
    const std::size_t rank = x.shape().size();
    Graph graph(x.graph());
    const auto places = [&](const Dim& size, std::size_t axis) {
        Shape shape(rank, Dim(1));
        shape[axis] = size;
        return reshape(iota(graph, size, DType::i64), shape);
    };
    // Position along each spatial axis: of the window's begin, and of the maximum in it.
    Tensor rest = first_maximum(x, axes);
    const Shape windows = rest.shape();
    std::vector<Tensor> positions(axes.size());
    for (std::size_t i = axes.size(); i-- > 0;) {
        const WindowAxis& axis = axes[i];
        const Tensor above = rest / axis.kernel;
        positions[i] =
            places(windows[i + 2], i + 2) * axis.stride - axis.before + (rest - above * axis.kernel) * axis.dilation;
        rest = above;
    }
    // The first axis is the outermost, or for storage_order 1 the innermost of the spatial ones.
    Tensor index = places(x.dim(0), 0) * x.dim(1) + places(x.dim(1), 1);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t axis = order == 0 ? i : axes.size() - 1 - i;
        index = index * x.shape()[axis + 2] + positions[axis];
    }
    return index;
}

void make_max_unpool(Node& node) {
    const std::size_t count = spatial_axes(node);
    const Tensor x = node.tensor(0), indices = node.tensor(1);
    if (!(indices.shape() == x.shape())) node.refuse("its indices do not have the shape of its input");
    if (!node.has_attribute("kernel_shape")) node.refuse("its attribute kernel_shape is missing");
    const std::vector<std::int64_t> kernel = spatial_integers(node, "kernel_shape", count, 1, 1),
                                    strides = spatial_integers(node, "strides", count, 1, 1),
                                    pads = spatial_pads(node, count);
    Shape shape{x.dim(0), x.dim(1)};
    for (std::size_t i = 0; i < count; ++i)
        shape.push_back((x.shape()[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[count + i]);
    if (node.has(2) && !(node.sizes(2, "output_shape") == shape))
        node.refuse(
            "its output_shape is not the one that its attributes give, and it is not defined which of them "
            "its indices are for");
    const Tensor zeros = broadcast(node.graph().constant(x.dtype(), 0), {element_count(shape)});
    const Dim elements = element_count(x.shape());
    const Tensor y = scatter(zeros, reshape(indices, {elements}), reshape(x, {elements}));
    node.set(0, reshape(y, shape));
}

}  // namespace cairn::inline v0::onnx
