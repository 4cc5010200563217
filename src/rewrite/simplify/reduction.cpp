#include "rewrite/simplify/rewriter.hpp"
#include "rewrite/simplify/rule.hpp"

#include <algorithm>
#include <array>

namespace cairn::simplify {
namespace {

using ir::NodeId;
using ir::Op;
using Result = std::optional<NodeId>;

// The axes of a reduction that have more than one element.
std::vector<Dim> long_axes(const Rewriter& r, NodeId id) {
    const Shape& shape = r.node(r.operand(id, 0)).shape;
    std::vector<Dim> axes = r.node(id).attributes.dims("axes");
    std::erase_if(axes, [&](const Dim& axis) {
        return shape[static_cast<std::size_t>(axis.constant() + static_cast<std::int64_t>(shape.size()))] == Dim(1);
    });
    return axes;
}

Result reduce_one(Rewriter& r, NodeId id) { return long_axes(r, id).empty() ? Result(r.operand(id, 0)) : std::nullopt; }

Result reduce_short_axes(Rewriter& r, NodeId id) {
    std::vector<Dim> axes = long_axes(r, id);
    if (axes.empty() || axes.size() == r.node(id).attributes.dims("axes").size()) return std::nullopt;
    return r.make(r.node(id).op, {r.operand(id, 0)}, attribute("axes", std::move(axes)));
}

// Reduced axes stay with size 1, so both reductions number axes alike.
Result reduce_twice(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (r.node(x).op != r.node(id).op) return std::nullopt;
    std::vector<Dim> axes = r.node(id).attributes.dims("axes");
    for (const Dim& axis : r.node(x).attributes.dims("axes"))
        if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
    return r.make(r.node(id).op, {r.operand(x, 0)}, attribute("axes", std::move(axes)));
}

Result argmax_one(Rewriter& r, NodeId id) {
    const ir::Node& x = r.node(r.operand(id, 0));
    if (!(x.shape[front_axis(x, r.node(id).attributes.integer("axis"))] == Dim(1))) return std::nullopt;
    return r.filled_like(id, 0);
}

using enum Rounding;

// clang-format off
constexpr std::array rows = {
    Rule{"reduce_one", "sum(x) -> x, max_reduce(x) -> x", "over axes of size 1", exact, Op::sum, reduce_one},
    Rule{"reduce_one", "sum(x) -> x, max_reduce(x) -> x", "over axes of size 1", exact, Op::max_reduce, reduce_one},
    Rule{"reduce_short_axes", "sum(x, axes) -> sum(x, axes of more than one element)", "likewise max_reduce", exact, Op::sum, reduce_short_axes},
    Rule{"reduce_short_axes", "sum(x, axes) -> sum(x, axes of more than one element)", "likewise max_reduce", exact, Op::max_reduce, reduce_short_axes},
    Rule{"reduce_twice", "sum(sum(x, a), b) -> sum(x, a and b)", "likewise max_reduce", rounded, Op::sum, reduce_twice},
    Rule{"reduce_twice", "sum(sum(x, a), b) -> sum(x, a and b)", "likewise max_reduce", rounded, Op::max_reduce, reduce_twice},
    Rule{"argmax_one", "argmax(x) -> 0", "over an axis of size 1", exact, Op::argmax, argmax_one},
};
// clang-format on

}  // namespace

std::span<const Rule> reduction_rules() { return rows; }

}  // namespace cairn::simplify
