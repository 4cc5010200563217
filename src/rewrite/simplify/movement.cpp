#include "graph/ir/infer.hpp"
#include "graph/ir/op_table.hpp"
#include "rewrite/simplify/rewriter.hpp"
#include "rewrite/simplify/rule.hpp"
#include "rewrite/simplify/rules_per_op.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace cairn::simplify {
namespace {

using ir::NodeId;
using ir::Op;
using Result = std::optional<NodeId>;

// The permutation of a transpose, with axes counted from the front.
std::vector<std::size_t> permutation(const ir::Node& node) {
    std::vector<std::size_t> result;
    for (const Dim& axis : node.attributes.dims("permutation"))
        result.push_back(static_cast<std::size_t>(axis.constant() + static_cast<std::int64_t>(node.shape.size())));
    return result;
}

Result same_shape(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    return r.node(x).shape == r.node(id).shape ? Result(x) : std::nullopt;
}

Result reshape_reshape(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (!r.is(x, Op::reshape)) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return r.reshape_to(r.operand(x, 0), shape);
}

Result broadcast_broadcast(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (!r.is(x, Op::broadcast)) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return r.broadcast_to(r.operand(x, 0), shape);
}

bool only_adds_ones(const Shape& from, const Shape& to) {
    if (from.size() > to.size()) return false;
    const auto added = static_cast<std::ptrdiff_t>(to.size() - from.size());
    return std::all_of(to.begin(), to.begin() + added, [](const Dim& size) { return size == Dim(1); }) &&
           std::equal(from.begin(), from.end(), to.begin() + added);
}

Result broadcast_ones(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    const Shape shape = r.node(id).shape;
    if (r.node(x).shape.empty() || !only_adds_ones(r.node(x).shape, shape)) return std::nullopt;
    return r.reshape_to(x, shape);
}

// The reverse for a scalar: its form in every shape is a broadcast.
Result reshape_scalar(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (!r.node(x).shape.empty()) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return r.broadcast_to(x, shape);
}

bool is_last_axes_swap(const std::vector<std::size_t>& order) {
    const std::size_t rank = order.size();
    if (rank < 2 || order[rank - 1] != rank - 2 || order[rank - 2] != rank - 1) return false;
    return std::is_sorted(order.begin(), order.end() - 2);
}

std::vector<Dim> axes_of(const std::vector<std::size_t>& order) { return {order.begin(), order.end()}; }

// True for the form that transpose_split produces.
bool is_split(const std::vector<std::size_t>& outer, const std::vector<std::size_t>& inner) {
    return is_last_axes_swap(outer) && inner.back() == inner.size() - 1;
}

Result transpose_transpose(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (!r.is(x, Op::transpose)) return std::nullopt;
    const auto outer = permutation(r.node(id)), inner = permutation(r.node(x));
    if (is_split(outer, inner)) return std::nullopt;
    std::vector<std::size_t> both;
    for (const std::size_t axis : outer) both.push_back(inner[axis]);
    return r.make(Op::transpose, {r.operand(x, 0)}, attribute("permutation", axes_of(both)));
}

// If the last axis becomes the last but one, the swap of these two axes is split off: k^T in q k^T is then a swap of a
// k with contiguous rows, which matmul and attention expect, however the program wrote it.
Result transpose_split(Rewriter& r, NodeId id) {
    auto order = permutation(r.node(id));
    const std::size_t rank = order.size();
    if (rank < 3 || order[rank - 2] != rank - 1 || is_last_axes_swap(order)) return std::nullopt;
    std::swap(order[rank - 1], order[rank - 2]);
    std::vector<std::size_t> swap(rank);
    std::iota(swap.begin(), swap.end(), std::size_t{0});
    std::swap(swap[rank - 1], swap[rank - 2]);
    const NodeId rows = r.make(Op::transpose, {r.operand(id, 0)}, attribute("permutation", axes_of(order)));
    return r.make(Op::transpose, {rows}, attribute("permutation", axes_of(swap)));
}

// Moving axes of size 1 moves no element.
Result transpose_still(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    std::vector<std::size_t> moved;
    for (const std::size_t axis : permutation(r.node(id)))
        if (!(r.node(x).shape[axis] == Dim(1))) moved.push_back(axis);
    if (!std::is_sorted(moved.begin(), moved.end())) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return r.reshape_to(x, shape);
}

// Movement of a broadcast scalar is a broadcast to the new shape.
Result move_scalar(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (!r.is(x, Op::broadcast) || !r.node(r.operand(x, 0)).shape.empty()) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return r.broadcast_to(r.operand(x, 0), shape);
}

std::optional<Shape> joint_shape(const Rewriter& r, const std::vector<NodeId>& operands) {
    std::optional<Shape> shape = r.node(operands[0]).shape;
    for (std::size_t i = 1; shape && i < operands.size(); ++i)
        shape = ir::broadcast_shapes(*shape, r.node(operands[i]).shape);
    return shape;
}

// An elementwise op broadcasts its operands implicitly. If all operands are broadcast, the result is broadcast instead.
Result broadcast_operand(Rewriter& r, NodeId id) {
    std::vector<NodeId> operands = r.node(id).operands;
    bool found = false;
    for (NodeId& operand : operands) {
        if (!r.is(operand, Op::broadcast)) continue;
        operand = r.operand(operand, 0);
        found = true;
    }
    if (!found || !joint_shape(r, operands)) return std::nullopt;
    const Shape shape = r.node(id).shape;
    const Attributes attributes = r.node(id).attributes;
    return r.broadcast_to(r.make(r.node(id).op, std::move(operands), attributes), shape);
}

// The same for leading axes of size 1, if another operand has these axes.
Result leading_ones(Rewriter& r, NodeId id) {
    std::vector<NodeId> operands = r.node(id).operands;
    for (NodeId& operand : operands) {
        if (!r.is(operand, Op::reshape)) continue;
        const NodeId inner = r.operand(operand, 0);
        if (!only_adds_ones(r.node(inner).shape, r.node(operand).shape)) continue;
        const NodeId kept = std::exchange(operand, inner);
        if (const auto shape = joint_shape(r, operands); shape && *shape == r.node(id).shape) {
            const Attributes attributes = r.node(id).attributes;
            return r.make(r.node(id).op, std::move(operands), attributes);
        }
        operand = kept;
    }
    return std::nullopt;
}

Result broadcast_leading_ones(Rewriter& r, NodeId id) {
    const NodeId x = r.operand(id, 0);
    if (!r.is(x, Op::reshape) || !only_adds_ones(r.node(r.operand(x, 0)).shape, r.node(x).shape)) return std::nullopt;
    const Shape shape = r.node(id).shape;
    return r.broadcast_to(r.operand(x, 0), shape);
}

bool is_one_matrix(const Shape& shape) {
    return std::all_of(shape.begin(), shape.end() - 2, [](const Dim& size) { return size == Dim(1); });
}

// matmul broadcasts batch axes implicitly; the last two axes must stay. Added axes of size 1 are removed from a single
// matrix multiplied with a batch of matrices; elsewhere that would give products of two ranks.
Result matmul_broadcast(Rewriter& r, NodeId id) {
    std::vector<NodeId> operands = r.node(id).operands;
    for (NodeId& operand : operands) {
        if (!r.is(operand, Op::broadcast) && !r.is(operand, Op::reshape)) continue;
        const NodeId inner = r.operand(operand, 0);
        const Shape &from = r.node(inner).shape, &to = r.node(operand).shape;
        if (r.is(operand, Op::reshape) && !only_adds_ones(from, to)) continue;
        const NodeId other = operands[&operand == &operands[0] ? 1 : 0];
        if (r.is(operand, Op::reshape) && (!is_one_matrix(to) || is_one_matrix(r.node(other).shape))) continue;
        if (from.size() < 2 || !std::equal(from.end() - 2, from.end(), to.end() - 2)) continue;
        const NodeId kept = std::exchange(operand, inner);
        const Shape &a = r.node(operands[0]).shape, &b = r.node(operands[1]).shape;
        const auto batch = ir::broadcast_shapes({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
        const Shape& whole = r.node(id).shape;
        if (batch && *batch == Shape(whole.begin(), whole.end() - 2)) return r.make(Op::matmul, std::move(operands));
        operand = kept;
    }
    return std::nullopt;
}

using enum Rounding;

// clang-format off
constexpr std::array single_rules = {
    Rule{"reshape_same", "reshape(x, shape of x) -> x", "", exact, Op::reshape, same_shape},
    Rule{"reshape_reshape", "reshape(reshape(x, s), t) -> reshape(x, t)", "", exact, Op::reshape, reshape_reshape},
    Rule{"reshape_scalar", "reshape(scalar, [1, 1]) -> broadcast(scalar, [1, 1])", "", exact, Op::reshape, reshape_scalar},
    Rule{"move_scalar", "reshape(broadcast(scalar, s), t) -> broadcast(scalar, t)", "likewise transpose, slice, window", exact, Op::reshape, move_scalar},
    Rule{"move_scalar", "reshape(broadcast(scalar, s), t) -> broadcast(scalar, t)", "likewise transpose, slice, window", exact, Op::transpose, move_scalar},
    Rule{"move_scalar", "reshape(broadcast(scalar, s), t) -> broadcast(scalar, t)", "likewise transpose, slice, window", exact, Op::slice, move_scalar},
    Rule{"move_scalar", "reshape(broadcast(scalar, s), t) -> broadcast(scalar, t)", "likewise transpose, slice, window", exact, Op::window, move_scalar},
    Rule{"transpose_transpose", "transpose(transpose(x, p), q) -> transpose(x, q after p)", "unless it is the form of transpose_split", exact, Op::transpose, transpose_transpose},
    Rule{"transpose_still", "transpose(x, p) -> reshape(x)", "p moves no axis, or only axes of size 1", exact, Op::transpose, transpose_still},
    Rule{"transpose_split", "transpose(x, [a, c, b]) -> swap(transpose(x, [a, b, c]))", "c is the last axis of x, and a and b are not in order", exact, Op::transpose, transpose_split},
    Rule{"broadcast_same", "broadcast(x, shape of x) -> x", "", exact, Op::broadcast, same_shape},
    Rule{"broadcast_broadcast", "broadcast(broadcast(x, s), t) -> broadcast(x, t)", "", exact, Op::broadcast, broadcast_broadcast},
    Rule{"broadcast_ones", "broadcast(x, [1, shape of x]) -> reshape(x)", "", exact, Op::broadcast, broadcast_ones},
    Rule{"broadcast_leading_ones", "broadcast(reshape(x, [1, shape of x]), s) -> broadcast(x, s)", "", exact, Op::broadcast, broadcast_leading_ones},
    Rule{"matmul_broadcast", "matmul(broadcast(a), b) -> matmul(a, b)", "only leading axes are repeated or added", exact, Op::matmul, matmul_broadcast},
};
// clang-format on

constexpr auto rows = concat_rules(
    single_rules,
    rules_for_each("broadcast_operand",
                   "broadcast(x, s) + y -> x + y, broadcast(x, s) + broadcast(y, s) -> broadcast(x + y, s)",
                   "every elementwise op", exact, elementwise_ops, broadcast_operand),
    rules_for_each("leading_ones", "reshape(x, [1, shape of x]) + y -> x + y",
                   "every elementwise op; y has the leading axes", exact, elementwise_ops, leading_ones));

}  // namespace

std::span<const Rule> movement_rules() { return rows; }

}  // namespace cairn::simplify
