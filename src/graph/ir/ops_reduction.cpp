#include "cairn/ops.hpp"
#include "graph/ir/op_builder.hpp"

#include <algorithm>

namespace cairn::inline v0 {

using ir::build_op;
using ir::Op;

namespace {

// `reduced` without the reduced axes, which its node keeps with size 1.
Tensor drop_axes(const Tensor& reduced, const Operand& x, std::string_view attribute) {
    const std::vector<Dim> axes = reduced.graph()->node(reduced.id()).attributes.dims(attribute);
    const auto rank = static_cast<std::int64_t>(reduced.shape().size());
    Shape shape;
    for (std::int64_t axis = -rank; axis < 0; ++axis)
        if (std::find(axes.begin(), axes.end(), Dim(axis)) == axes.end())
            shape.push_back(reduced.shape()[static_cast<std::size_t>(axis + rank)]);
    return axes.empty() ? reduced : reshape(Operand(reduced, x.where()), std::move(shape));
}

Tensor reduce(Op op, const Operand& x, const IntList& axes, bool keepdims) {
    const Tensor reduced = build_op(op, {x}, {{"axes", ir::dims(axes.values())}});
    return keepdims ? reduced : drop_axes(reduced, x, "axes");
}

}  // namespace

Tensor sum(const Operand& x, const IntList& axes, bool keepdims) { return reduce(Op::sum, x, axes, keepdims); }

Tensor prod(const Operand& x, const IntList& axes, bool keepdims) { return reduce(Op::prod, x, axes, keepdims); }

Tensor max_reduce(const Operand& x, const IntList& axes, bool keepdims) {
    return reduce(Op::max_reduce, x, axes, keepdims);
}

Tensor argmax(const Operand& x, int axis, bool keepdims) {
    const Tensor reduced = build_op(Op::argmax, {x}, {{"axis", std::vector<Dim>{axis}}});
    return keepdims ? reduced : drop_axes(reduced, x, "axis");
}

Tensor cumsum(const Operand& x, int axis) { return build_op(Op::cumsum, {x}, {{"axis", std::vector<Dim>{axis}}}); }

Tensor argsort(const Operand& x, int axis, bool descending) {
    return build_op(Op::argsort, {x},
                    {{"axis", std::vector<Dim>{axis}}, {"descending", std::vector<Dim>{descending ? 1 : 0}}});
}

}  // namespace cairn::inline v0
