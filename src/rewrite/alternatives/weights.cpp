#include "rewrite/alternatives/weights.hpp"

#include <algorithm>

namespace cairn::alternatives {

using ir::Node;
using ir::NodeId;
using ir::Op;

namespace {

using MaybeNode = std::optional<NodeId>;

Attributes list(std::string_view name, std::vector<Dim> values) { return {{std::string(name), std::move(values)}}; }

MaybeNode reshaped(Expander& e, NodeId x, const Shape& shape) {
    return e.node(x).shape == shape ? MaybeNode(x) : e.make(Op::reshape, {x}, list("shape", shape), x);
}

bool is_only_last(const Shape& shape) {
    return std::all_of(shape.begin(), shape.end() - 1, [](const Dim& size) { return size == Dim(1); });
}

// `c` in the shape in which it broadcasts against a matrix: as a row or as a column.
MaybeNode beside(Expander& e, NodeId c, bool as_column) {
    if (is_bound_scalar(e, c)) return reshaped(e, c, {});
    const Dim size = e.node(c).shape.back();
    return reshaped(e, c, as_column ? Shape{size, 1} : Shape{size});
}

MaybeNode scaled(Expander& e, Op op, NodeId w, NodeId c, bool columns) {
    const auto stored = stored_matrix(e, w);
    const MaybeNode factor = beside(e, c, columns == stored.has_value());
    if (!factor) return std::nullopt;
    if (!stored) return e.make(op, {w, *factor}, {}, w);
    const MaybeNode matrix = e.make(op, {*stored, *factor}, {}, w);
    return matrix ? transposed(e, *matrix) : std::nullopt;
}

}  // namespace

bool is_bound_row(const Expander& e, NodeId id, const Dim& width) {
    const Shape& shape = e.node(id).shape;
    return e.is_bound(id) && !shape.empty() && is_only_last(shape) && shape.back() == width;
}

bool is_bound_scalar(const Expander& e, NodeId id) {
    const Shape& shape = e.node(id).shape;
    return e.is_bound(id) && std::all_of(shape.begin(), shape.end(), [](const Dim& size) { return size == Dim(1); });
}

MaybeNode stored_matrix(const Expander& e, NodeId matrix) {
    const Node& node = e.node(matrix);
    if (node.op != Op::transpose || node.shape.size() != 2) return std::nullopt;
    return node.operands[0];
}

MaybeNode transposed(Expander& e, NodeId matrix) {
    if (const auto stored = stored_matrix(e, matrix)) return stored;
    return e.make(Op::transpose, {matrix}, list("permutation", {-1, -2}), matrix);
}

MaybeNode matrix_product(Expander& e, NodeId a, NodeId b) {
    const auto left = stored_matrix(e, a), right = stored_matrix(e, b);
    if (!left || !right) return e.make(Op::matmul, {a, b}, {}, a);
    const MaybeNode whole = e.make(Op::matmul, {*right, *left}, {}, a);
    return whole ? transposed(e, *whole) : std::nullopt;
}

MaybeNode matrix_sum(Expander& e, Op op, NodeId a, NodeId b) {
    const auto left = stored_matrix(e, a), right = stored_matrix(e, b);
    if (!left || !right) return e.make(op, {a, b}, {}, a);
    const MaybeNode whole = e.make(op, {*left, *right}, {}, a);
    return whole ? transposed(e, *whole) : std::nullopt;
}

MaybeNode sliced(Expander& e, NodeId x, const Attributes& cut, NodeId like) {
    const auto stored = e.is_bound(x) ? stored_matrix(e, x) : std::nullopt;
    if (!stored) return e.make(Op::slice, {x}, cut, like);
    Attributes across = cut;
    for (Attribute& each : across)
        if (each.name == "axis") each.value = std::vector<Dim>{Dim(-3) - cut.integer("axis")};
    const MaybeNode part = e.make(Op::slice, {*stored}, std::move(across), like);
    return part ? transposed(e, *part) : std::nullopt;
}

MaybeNode scaled_columns(Expander& e, Op op, NodeId w, NodeId c) { return scaled(e, op, w, c, true); }

MaybeNode scaled_rows(Expander& e, Op op, NodeId w, NodeId c) { return scaled(e, op, w, c, false); }

MaybeNode concat_columns(Expander& e, const std::vector<NodeId>& matrices) {
    std::vector<NodeId> stored;
    for (const NodeId matrix : matrices)
        if (const auto dense = stored_matrix(e, matrix)) stored.push_back(*dense);
    if (stored.size() != matrices.size()) return e.make(Op::concat, matrices, list("axis", {-1}), matrices[0]);
    const MaybeNode whole = e.make(Op::concat, stored, list("axis", {-2}), matrices[0]);
    return whole ? transposed(e, *whole) : std::nullopt;
}

MaybeNode as_row(Expander& e, NodeId row) { return reshaped(e, row, {e.node(row).shape.back()}); }

MaybeNode row_times(Expander& e, NodeId row, NodeId w) {
    const MaybeNode matrix = reshaped(e, row, {1, e.node(row).shape.back()});
    const MaybeNode product = matrix ? e.make(Op::matmul, {*matrix, w}, {}, w) : std::nullopt;
    return product ? as_row(e, *product) : std::nullopt;
}

}  // namespace cairn::alternatives
