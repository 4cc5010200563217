#include "io/onnx_operators/cubic_convolution.hpp"
#include "io/onnx_operators/resizing.hpp"

#include <fmt/format.h>

// For sizes that are not known at import.
namespace cairn::inline v0::onnx {
namespace {

/// The coordinates in x of all elements of the result, in f64. Those of sizes are quotients of integers, so that ties
/// are exact.
Tensor resize_coordinates(const Node& node, Graph graph, const ResizePlan& plan, const ResizeAxis& axis) {
    const Tensor index = cast(iota(graph, axis.out, DType::i64), DType::f64);
    const Tensor in = graph.constant(DType::f64, axis.in), out = graph.constant(DType::f64, max(axis.out, Dim(1)));
    const auto half_pixel = [&] {
        return axis.scale ? (index + 0.5) / *axis.scale - 0.5 : ((2 * index + 1) * in - out) / (2 * out);
    };
    switch (plan.coordinates) {
        case ResizeCoordinates::half_pixel: break;
        case ResizeCoordinates::half_pixel_symmetric:
            return axis.scale ? in / 2 * (1 - out / (*axis.scale * in)) + half_pixel() : half_pixel();
        case ResizeCoordinates::pytorch_half_pixel: return where(out > 1.0, half_pixel(), 0 * index);
        case ResizeCoordinates::align_corners:
            if (axis.scale) node.refuse(fmt::format("align_corners with a scale of {} needs known sizes", *axis.scale));
            return index * (in - 1) / max(out - 1, Operand(1.0));
        case ResizeCoordinates::asymmetric: return axis.scale ? index / *axis.scale : index * in / out;
        case ResizeCoordinates::crop: {
            const Tensor several =
                (axis.start * (out - 1 - index) + axis.stop * index) * (in - 1) / max(out - 1, Operand(1.0));
            return where(out > 1.0, several, 0.5 * (axis.start + axis.stop) * (in - 1) + 0 * index);
        }
    }
    return half_pixel();
}

Tensor rounded_resize_coordinates(const Tensor& x, ResizeRounding rounding) {
    switch (rounding) {
        case ResizeRounding::prefer_lower: return -floor(0.5 - x);
        case ResizeRounding::prefer_higher: return floor(x + 0.5);
        case ResizeRounding::down: return floor(x);
        case ResizeRounding::up: break;
    }
    return -floor(-x);
}

/// The weight of the element `k` after the one at or before a coordinate, which is `t` after that one.
Tensor resize_tap_weight(const ResizePlan& plan, const Tensor& t, int k) {
    const Tensor d = k <= 0 ? t - k : k - t;
    if (plan.mode == ResizeMode::linear) return 1 - d;
    return k == 0 || k == 1 ? cubic_weight_near(d, plan.cubic_a) : cubic_weight_far(d, plan.cubic_a);
}

}  // namespace

Tensor resized_by_coordinates(const Node& node, const Tensor& x, const ResizePlan& plan, const ResizeAxis& axis) {
    if (plan.antialias || plan.excludes_outside)
        node.refuse(fmt::format("antialiasing and exclude_outside need known sizes, not {} and {}", to_string(axis.in),
                                to_string(axis.out)));
    if (!provably_le(1, axis.in)) node.refuse(fmt::format("axis {} of its input may be empty", axis.axis));
    const Tensor coordinate = resize_coordinates(node, Graph(x.graph()), plan, axis);
    Shape along(static_cast<std::size_t>(x.rank() - axis.axis), Dim(1));
    along[0] = axis.out;
    const auto elements = [&](const Tensor& position) {
        return gather(x, cast(clamp(position, 0.0, axis.in - 1), DType::i64), axis.axis);
    };
    Tensor result;
    if (plan.mode == ResizeMode::nearest) {
        result = elements(rounded_resize_coordinates(coordinate, plan.rounding));
    } else {
        const Tensor low = floor(coordinate), t = coordinate - low;
        const int reach = plan.mode == ResizeMode::cubic ? 2 : 1;
        for (int k = 1 - reach; k <= reach; ++k) {
            const Tensor weight = reshape(cast(resize_tap_weight(plan, t, k), x.dtype()), along);
            const Tensor part = elements(low + k) * weight;
            result = result.empty() ? part : result + part;
        }
    }
    if (plan.coordinates != ResizeCoordinates::crop) return result;
    const Tensor outside = coordinate < 0.0 || coordinate > axis.in - 1;
    return where(reshape(outside, along), cast(Graph(x.graph()).constant(DType::f64, plan.extrapolation), x.dtype()),
                 result);
}

}  // namespace cairn::inline v0::onnx
