#include "graph/composites/f32_compute.hpp"
#include "graph/composites/sliding_windows.hpp"
#include "graph/composites/typed_name.hpp"

namespace cairn::inline v0 {
namespace {

using namespace composites;

void check(const CompositeScope& scope, const Operand& x, const Shape& size) {
    need_tensor(scope, "x", x);
    const Shape& shape = x.tensor().shape();
    if (shape.size() < 3) scope.fail("x needs a spatial axis behind [B, C]: " + typed_name("x", x));
    if (size.size() != shape.size() - 2)
        scope.fail("size must have " + std::to_string(shape.size() - 2) + " entries, got " +
                   std::to_string(size.size()));
    for (std::size_t axis = 2; axis < shape.size(); ++axis) {
        if (!provably_le(1, shape[axis]))
            scope.fail("axis " + std::to_string(axis) + " may be empty: " + typed_name("x", x));
        if (!provably_le(0, size[axis - 2])) scope.fail("size may be negative: " + to_string(size[axis - 2]));
    }
}

// Coordinates of the result's elements on an axis of x, in f64. They are quotients of integers, so that those that are
// integers or half-way between two are exact.
Tensor source_coordinates(const Tensor& x, const Dim& in, const Dim& out, CoordinateTransformation coordinates) {
    const Tensor coordinate = cast(iota(Graph(x.graph()), out, DType::i64), DType::f64);
    switch (coordinates) {
        case CoordinateTransformation::half_pixel: return ((2 * coordinate + 1) * in - out) / (2 * max(out, Dim(1)));
        case CoordinateTransformation::align_corners: return coordinate * (in - 1) / max(out - 1, Dim(1));
        case CoordinateTransformation::asymmetric: break;
    }
    return coordinate * in / max(out, Dim(1));
}

Tensor ceil(const Tensor& x) { return -floor(-x); }

Tensor rounded(const Tensor& coordinate, ResizeRounding rounding) {
    switch (rounding) {
        case ResizeRounding::prefer_lower: return ceil(coordinate - 0.5);
        case ResizeRounding::prefer_higher: return floor(coordinate + 0.5);
        case ResizeRounding::down: return floor(coordinate);
        case ResizeRounding::up: break;
    }
    return ceil(coordinate);
}

// The elements at integral coordinates of an axis; coordinates beyond its ends are clamped.
Tensor elements_at(const Tensor& x, const Tensor& coordinate, int axis) {
    return gather(x, cast(clamp(coordinate, 0.0, x.dim(axis) - 1), DType::i64), axis);
}

Tensor interpolate(const Tensor& x, const Dim& size, int axis, CoordinateTransformation coordinates) {
    const Tensor coordinate = clamp(source_coordinates(x, x.dim(axis), size, coordinates), 0.0, x.dim(axis) - 1),
                 low = floor(coordinate);
    Shape along(static_cast<std::size_t>(x.rank() - axis), Dim(1));
    along[0] = size;
    const Tensor weight = reshape(cast(coordinate - low, x.dtype()), along);
    return elements_at(x, low, axis) * (1 - weight) + elements_at(x, low + 1, axis) * weight;
}

}  // namespace

Tensor resize_nearest(const Operand& x, const Shape& size, CoordinateTransformation coordinates,
                      ResizeRounding rounding) {
    const CompositeScope scope("resize_nearest", x);
    check(scope, x, size);
    Tensor result = x.tensor();
    for (int axis = 2; axis < x.tensor().rank(); ++axis) {
        const Dim& out = size[static_cast<std::size_t>(axis) - 2];
        if (out == result.dim(axis)) continue;
        result = elements_at(result, rounded(source_coordinates(result, result.dim(axis), out, coordinates), rounding),
                             axis);
    }
    return result;
}

Tensor resize_linear(const Operand& x, const Shape& size, CoordinateTransformation coordinates) {
    const CompositeScope scope("resize_linear", x);
    check(scope, x, size);
    if (!is_float(x.tensor().dtype())) scope.fail("needs a float dtype: " + typed_name("x", x));
    Tensor result = widened(x);
    for (int axis = 2; axis < x.tensor().rank(); ++axis) {
        const Dim& out = size[static_cast<std::size_t>(axis) - 2];
        if (!(out == result.dim(axis))) result = interpolate(result, out, axis, coordinates);
    }
    return narrowed(result, x);
}

}  // namespace cairn::inline v0
