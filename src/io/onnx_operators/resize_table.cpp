#include "io/onnx_operators/cubic_convolution.hpp"
#include "io/onnx_operators/resizing.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::inline v0::onnx {
namespace {

/// The coordinate in x of element `p` of the result. Those of sizes are quotients of integers, so that ties are exact.
double resize_coordinate(const ResizePlan& plan, const ResizeAxis& axis, std::int64_t p) {
    const auto in = static_cast<double>(axis.in.constant()), out = static_cast<double>(axis.out.constant());
    const auto index = static_cast<double>(p);
    const double scale = axis.scale_factor(), width = axis.scale ? scale * in : out;
    const auto half_pixel = [&] {
        return axis.scale ? (index + 0.5) / scale - 0.5 : ((2 * index + 1) * in - out) / (2 * out);
    };
    switch (plan.coordinates) {
        case ResizeCoordinates::half_pixel: break;
        case ResizeCoordinates::half_pixel_symmetric: return in / 2 * (1 - out / width) + half_pixel();
        case ResizeCoordinates::pytorch_half_pixel: return out > 1 ? half_pixel() : 0;
        case ResizeCoordinates::align_corners: return width == 1 ? 0 : index * (in - 1) / (width - 1);
        case ResizeCoordinates::asymmetric: return axis.scale ? index / scale : index * in / out;
        case ResizeCoordinates::crop:
            // In this form the last element is at `stop` exactly.
            if (out > 1) return (axis.start * (out - 1 - index) + axis.stop * index) * (in - 1) / (out - 1);
            return 0.5 * (axis.start + axis.stop) * (in - 1);
    }
    return half_pixel();
}

double rounded_resize_coordinate(double x, ResizeRounding rounding) {
    switch (rounding) {
        case ResizeRounding::prefer_lower: return std::ceil(x - 0.5);
        case ResizeRounding::prefer_higher: return std::floor(x + 0.5);
        case ResizeRounding::down: return std::floor(x);
        case ResizeRounding::up: break;
    }
    return std::ceil(x);
}

double resize_filter_weight(const ResizePlan& plan, double distance) {
    const double d = std::fabs(distance), a = plan.cubic_a;
    if (plan.mode == ResizeMode::linear) return std::max(1 - d, 0.0);
    if (d <= 1) return cubic_weight_near(d, a);
    return d < 2 ? cubic_weight_far(d, a) : 0;
}

/// Appends the elements around `x` and their weights. When it shrinks with `antialias`, the filter is as much wider.
void append_taps(const ResizePlan& plan, const ResizeAxis& axis, double x, std::int64_t reach, double stretch,
                 ResizeTable& table) {
    const auto low = static_cast<std::int64_t>(std::floor(x));
    const std::int64_t last = axis.in.constant() - 1;
    const std::size_t first = table.weights.size();
    double total = 0;
    for (std::int64_t k = 1 - reach; k <= reach; ++k) {
        const std::int64_t index = low + k;
        double weight = resize_filter_weight(plan, (static_cast<double>(index) - x) * stretch);
        if (plan.excludes_outside && (index < 0 || index > last)) weight = 0;
        table.indices.push_back(std::clamp<std::int64_t>(index, 0, last));
        table.weights.push_back(weight);
        total += weight;
    }
    if (total == 0 || (!plan.excludes_outside && stretch == 1)) return;
    for (std::size_t i = first; i < table.weights.size(); ++i) table.weights[i] /= total;
}

Tensor table_weights(const Tensor& x, const ResizeTable& table, const ResizeAxis& axis, std::int64_t tap) {
    std::vector<double> weights;
    for (std::int64_t p = 0; p < axis.out.constant(); ++p)
        weights.push_back(table.weights[static_cast<std::size_t>(p * table.taps + tap)]);
    Shape shape(static_cast<std::size_t>(x.rank() - axis.axis), Dim(1));
    shape[0] = axis.out;
    return Graph(x.graph()).constant(x.dtype(), shape, weights);
}

Tensor table_elements(const Tensor& x, const ResizeTable& table, const ResizeAxis& axis, std::int64_t tap) {
    std::vector<std::int64_t> indices;
    for (std::int64_t p = 0; p < axis.out.constant(); ++p)
        indices.push_back(table.indices[static_cast<std::size_t>(p * table.taps + tap)]);
    return gather(x, Graph(x.graph()).constant(indices, {axis.out}), axis.axis);
}

/// Many taps: all elements of all windows at once, weighted and summed.
Tensor sum_of_taps(const Tensor& x, const ResizeTable& table, const ResizeAxis& axis) {
    Graph graph(x.graph());
    const Tensor indices = graph.constant(table.indices, {axis.out, table.taps});
    Shape shape(static_cast<std::size_t>(x.rank() - axis.axis) + 1, Dim(1));
    shape[0] = axis.out;
    shape[1] = table.taps;
    return sum(gather(x, indices, axis.axis) * graph.constant(x.dtype(), shape, table.weights), axis.axis + 1);
}

}  // namespace

ResizeTable resize_table(const ResizePlan& plan, const ResizeAxis& axis) {
    ResizeTable table;
    const double last = static_cast<double>(axis.in.constant() - 1);
    const bool widens = plan.antialias && axis.scale_factor() < 1;
    const double stretch = widens ? axis.scale_factor() : 1;
    const double radius = (plan.mode == ResizeMode::cubic ? 2 : 1) / stretch;
    const auto reach = static_cast<std::int64_t>(std::ceil(radius));
    if (plan.mode != ResizeMode::nearest) table.taps = 2 * reach;
    for (std::int64_t p = 0; p < axis.out.constant(); ++p) {
        const double x = resize_coordinate(plan, axis, p);
        table.is_outside.push_back(plan.coordinates == ResizeCoordinates::crop && (x < 0 || x > last));
        if (plan.mode == ResizeMode::nearest)
            table.indices.push_back(
                static_cast<std::int64_t>(std::clamp(rounded_resize_coordinate(x, plan.rounding), 0.0, last)));
        else
            append_taps(plan, axis, std::clamp(x, -0x1p40, 0x1p40), reach, stretch, table);
    }
    return table;
}

Tensor resized_by_table(const Tensor& x, const ResizePlan& plan, const ResizeAxis& axis) {
    const ResizeTable table = resize_table(plan, axis);
    Tensor result;
    if (plan.mode == ResizeMode::nearest)
        result = table_elements(x, table, axis, 0);
    else if (table.taps > 4)
        result = sum_of_taps(x, table, axis);
    else
        for (std::int64_t tap = 0; tap < table.taps; ++tap) {
            const Tensor part = table_elements(x, table, axis, tap) * table_weights(x, table, axis, tap);
            result = tap == 0 ? part : result + part;
        }
    if (std::ranges::none_of(table.is_outside, [](bool outside) { return outside; })) return result;
    Graph graph(x.graph());
    const std::vector<double> flags(table.is_outside.begin(), table.is_outside.end());
    Shape shape(static_cast<std::size_t>(x.rank() - axis.axis), Dim(1));
    shape[0] = axis.out;
    const Tensor outside = graph.constant(DType::boolean, shape, flags);
    return where(outside, cast(graph.constant(DType::f64, plan.extrapolation), x.dtype()), result);
}

}  // namespace cairn::inline v0::onnx
