#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/point_samples.hpp"
#include "io/onnx_operators/sampling.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <array>
#include <numeric>

namespace cairn::inline v0::onnx {
namespace {

/// Places of the elements of an axis between -1 and 1: of their centers if the ends are those of the outer elements'
/// centers, which for a single element is not a number.
Tensor affine_places(Graph graph, const Dim& size, bool align_corners) {
    const Tensor index = cast(iota(graph, size, DType::i64), DType::f64);
    if (!align_corners) return (2 * index + 1) / size - 1;
    return index * (graph.constant(DType::f64, 2) / graph.constant(DType::f64, size - 1)) - 1;
}

/// The grid is the product of all places, with a 1 for the translation, and each matrix theta [N, axes, axes + 1].
void make_affine_grid(Node& node) {
    const Tensor theta = node.tensor(0);
    const Shape size = node.sizes(1, "size");
    if (size.size() != 4 && size.size() != 5) node.refuse(fmt::format("size has {} elements", size.size()));
    const std::size_t axes = size.size() - 2;
    const auto rows = static_cast<std::int64_t>(axes);
    if (theta.rank() != 3 || !(theta.dim(0) == size[0]) || !(theta.dim(1) == Dim(rows)) ||
        !(theta.dim(2) == Dim(rows + 1)))
        node.refuse(fmt::format("theta is {} for size {}", to_string(theta.shape()), to_string(size)));
    const bool align_corners = node.integer("align_corners", 0) != 0;
    const DType wide = float_dtype(theta.dtype());
    const Shape space(size.begin() + 2, size.end());
    std::vector<Tensor> columns;
    for (std::size_t axis = axes; axis-- > 0;)
        columns.push_back(
            broadcast(along_axis(affine_places(node.graph(), space[axis], align_corners), axis, axes), space));
    columns.push_back(broadcast(node.graph().constant(DType::f64, 1), space));
    const Tensor places = reshape(stack(columns, -1), {element_count(space), rows + 1});
    const Tensor grid = matmul(cast(places, wide), swap_axes(cast(theta, wide), 1, 2));
    Shape shape{size[0]};
    shape.insert(shape.end(), space.begin(), space.end());
    shape.emplace_back(rows);
    node.set(0, cast(reshape(grid, shape), theta.dtype()));
}

/// One axis cut or padded to `wanted` elements around its center.
Tensor cropped_or_padded(const Node& node, const Tensor& x, int axis, const Dim& wanted) {
    const Dim size = x.dim(axis);
    if (provably_le(wanted, size)) {
        const Dim start = floordiv(size - wanted, 2);
        return slice(x, axis, start, start + wanted);
    }
    if (provably_le(size, wanted)) {
        const Dim before = floordiv(wanted - size, 2);
        return pad(x, axis, before, wanted - size - before);
    }
    if (!provably_le(1, size)) node.refuse(fmt::format("axis {} of its input may be empty", axis));
    const Dim shift = floordiv(max(size - wanted, Dim(0)), 2) - floordiv(max(wanted - size, Dim(0)), 2);
    const Tensor source = iota(Graph(x.graph()), wanted, DType::i64) + shift;
    const Tensor inside = source >= 0 && source < size;
    const Tensor elements = gather(x, clamp(source, 0, size - 1), axis);
    const auto first = static_cast<std::size_t>(axis), rank = static_cast<std::size_t>(x.rank());
    const Tensor zero = cast(Graph(x.graph()).constant(DType::i32, 0), x.dtype());
    return where(along_axis(inside, first, rank), elements, zero);
}

void make_center_crop_pad(Node& node) {
    Tensor x = node.tensor(0);
    const Shape shape = node.sizes(1, "shape");
    std::vector<int> axes(static_cast<std::size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
    if (node.has_attribute("axes")) axes = node.axes(node.integers("axes"), x.rank());
    if (axes.size() != shape.size())
        node.refuse(fmt::format("shape has {} elements for {} axes", shape.size(), axes.size()));
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (!provably_le(0, shape[i])) node.refuse(fmt::format("shape has the element {}", to_string(shape[i])));
        x = cropped_or_padded(node, x, axes[i], shape[i]);
    }
    node.set(0, x);
}

void make_max_roi_pool(Node& node) { node.refuse("the sizes of its windows depend on the elements of rois"); }

constexpr std::array<Operator, 5> sampling_rows{{{"GridSample", 16, make_grid_sample},
                                                 {"AffineGrid", 20, make_affine_grid},
                                                 {"RoiAlign", 10, make_roi_align},
                                                 {"CenterCropPad", 18, make_center_crop_pad},
                                                 {"MaxRoiPool", 1, make_max_roi_pool}}};

}  // namespace

std::span<const Operator> sampling_operators() { return sampling_rows; }

}  // namespace cairn::inline v0::onnx
