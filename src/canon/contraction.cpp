#include "canon/canon.hpp"

#include "ir/infer.hpp"

#include <algorithm>
#include <cmath>

// Sums along axes and products of matrices: what does not vary along the axis that is summed stands outside.
namespace cairn::inline v0::canon {
namespace {

using ir::Op;

bool varies_along(const Shape& shape, const Dim& axis) {
    const std::int64_t from_end = -axis.constant();
    const auto rank = static_cast<std::int64_t>(shape.size());
    return from_end <= rank && !(shape[static_cast<std::size_t>(rank - from_end)] == Dim(1));
}

}  // namespace

// Takes the parts of a product that vary along none of `axes` out of `value`, if others are left; returns them.
Scaled Canon::take_constant_along(std::span<const Dim> axes, Scaled& value) {
    const DType dtype = terms_[value.core].dtype;
    const std::span<const Scaled> powers = powers_of(value.core);
    std::vector<Scaled> inside(powers.begin(), powers.end()), outside;
    const auto middle = std::stable_partition(inside.begin(), inside.end(), [&](const Scaled& power) {
        const Shape& shape = *terms_[power.core].shape;
        return std::any_of(axes.begin(), axes.end(), [&](const Dim& axis) { return varies_along(shape, axis); });
    });
    outside.assign(middle, inside.end());
    inside.erase(middle, inside.end());
    const double factor = std::exchange(value.factor, 1);
    if (outside.empty() || inside.empty()) return {factor, one(dtype)};
    value.core = product(inside, dtype);
    return {factor, product(outside, dtype)};
}

// sum(f x) = f sum(x).
Scaled Canon::summed(const Attributes& attributes, Scaled x) {
    const std::vector<Dim>& axes = attributes.dims("axes");
    const Scaled outside = take_constant_along(axes, x);
    Shape shape = *terms_[x.core].shape;
    for (const Dim& axis : axes)
        if (varies_along(shape, axis)) shape[shape.size() - static_cast<std::size_t>(-axis.constant())] = 1;
    const Scaled sum{1, op_term(Op::sum, terms_[x.core].dtype, trimmed_shape(shape), {x}, &attributes)};
    return multiply(outside, sum);
}

// (f a) (b g) = f (a b) g, with a column f and a row g.
Scaled Canon::multiply_matrices(Scaled a, Scaled b) {
    const DType dtype = terms_[a.core].dtype;
    const Dim last = -1, before = -2;
    const Scaled left = take_constant_along({&last, 1}, a), right = take_constant_along({&before, 1}, b);
    const Shape &x = *terms_[a.core].shape, &y = *terms_[b.core].shape;
    const auto without = [](const Shape& shape, std::size_t count) {
        return Shape(shape.begin(),
                     shape.size() > count ? shape.end() - static_cast<std::ptrdiff_t>(count) : shape.begin());
    };
    Shape shape = *ir::broadcast_shapes(without(x, 2), without(y, 2));
    shape.push_back(x.size() > 1 ? x[x.size() - 2] : Dim(1));
    shape.push_back(y.empty() ? Dim(1) : y.back());
    const Scaled product{1, op_term(Op::matmul, dtype, trimmed_shape(shape), {a, b})};
    return multiply(multiply(left, right), product);
}

}  // namespace cairn::inline v0::canon
