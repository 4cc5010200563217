#include "rewrite/alternatives/equivalence_rule.hpp"
#include "rewrite/alternatives/linear_ops.hpp"
#include "rewrite/alternatives/weights.hpp"

#include <array>

namespace cairn::alternatives {
namespace {

using ir::Node;
using ir::NodeId;
using ir::Op;
using LinearOps = std::vector<LinearOp>;

// Maximum number of linear ops considered for one term, and of expressions added to one sum.
constexpr std::size_t max_products = 8, max_sums = 2;

// a op b of rows, of which one may be missing.
std::optional<NodeId> row_sum(Expander& e, Op op, std::optional<NodeId> a, std::optional<NodeId> b, NodeId like) {
    std::array<std::optional<NodeId>, 2> rows{a, b};
    for (auto& row : rows)
        if (row && !(row = as_row(e, *row))) return std::nullopt;
    if (a && b) return e.make(op, {*rows[0], *rows[1]}, {}, like);
    return a || op == Op::add ? (a ? rows[0] : rows[1]) : e.make(Op::neg, {*rows[1]}, {}, like);
}

// y w with the product y = x a + r expanded: x (a w) + r w.
std::optional<LinearOp> expanded(Expander& e, const LinearOp& outer, const LinearOp& inner) {
    LinearOp whole = outer;
    whole.x = inner.x;
    whole.is_original = false;
    whole.laws = outer.laws | inner.laws | Laws{Law::reassociated};
    const auto w = matrix_product(e, inner.w, outer.w);
    if (!w) return std::nullopt;
    whole.w = *w;
    if (!inner.bias) return whole;
    const auto row = row_times(e, *inner.bias, outer.w);
    whole.bias = row ? row_sum(e, Op::add, row, outer.bias, outer.matmul) : row;
    return whole.bias ? std::optional(whole) : std::nullopt;
}

/// The linear ops that compute a value, also with the products in their left operands expanded.
LinearOps products_under(Expander& e, NodeId value) {
    LinearOps found = linear_ops_at(e, value);
    for (std::size_t i = 0; i < found.size() && found.size() < max_products; ++i)
        for (const LinearOp& inner : linear_ops_at(e, found[i].x))
            if (const auto whole = expanded(e, found[i], inner)) found.push_back(*whole);
    return found;
}

std::optional<NodeId> together(Expander& e, NodeId sum, const LinearOp& a, const LinearOp& b) {
    const Op op = e.node(sum).op;
    const auto w = matrix_sum(e, op, a.w, b.w);
    if (!w) return std::nullopt;
    const bool is_biased = a.bias || b.bias;
    const auto bias = is_biased ? row_sum(e, op, a.bias, b.bias, sum) : std::nullopt;
    return is_biased && !bias ? std::nullopt : make_linear_op(e, a.x, *w, bias, sum);
}

bool is_smaller(const Expander& e, NodeId term, NodeId sum) {
    return e.node(term).shape != e.node(sum).shape && e.node(term).shape.back() == e.node(sum).shape.back();
}

}  // namespace

// Adds products with one left operand as a single product, if nothing else reads them (a layer and its adapter):
//
//     %4 = matmul %x, %w                       matmul %x, (add %w, (matmul %a, %b)) = %7
//     %6 = matmul (matmul %x, %a), %b
//     %7 = add %4, %6                      ->
//
// Differences are handled likewise.
void add_products(Expander& e, NodeId id, Laws laws) {
    const std::vector<NodeId> sides(e.node(id).operands.begin(), e.node(id).operands.end());
    if (!e.is_original(id) || !is_float(e.node(id).dtype)) return;
    for (const NodeId side : sides)
        if (e.is_bound(side) || e.single_user(side) != id) return;
    std::size_t made = 0;
    const LinearOps left = products_under(e, sides[0]);
    const LinearOps right = left.empty() ? LinearOps{} : products_under(e, sides[1]);
    for (const LinearOp& a : left)
        for (const LinearOp& b : right) {
            if (a.x != b.x || e.node(a.w).shape != e.node(b.w).shape || made == max_sums) continue;
            const auto expression = together(e, id, a, b);
            if (expression && e.join(id, *expression, laws | a.laws | b.laws)) ++made;
        }
}

// Distributes a product over a sum whose terms are broadcast along axes that only the other term has (all pairs of two
// lists):
//
//     %4 = add %a[N,1,4], %b[M,4]       add (matmul %a, %w), (matmul %b, %w) = %5
//     %5 = matmul %4, %w            ->
void multiply_terms(Expander& e, NodeId id, Laws laws) {
    const NodeId sum = e.node(id).operands[0], w = e.node(id).operands[1];
    const Op op = e.node(sum).op;
    if (!e.is_original(id) || !is_float(e.node(id).dtype) || (op != Op::add && op != Op::sub)) return;
    const NodeId a = e.node(sum).operands[0], b = e.node(sum).operands[1];
    if (e.is_bound(sum) || e.single_user(sum) != id || e.node(a).shape.empty() || e.node(b).shape.empty()) return;
    if (!is_smaller(e, a, sum) || !is_smaller(e, b, sum)) return;
    const auto first = e.make(Op::matmul, {a, w}, {}, id), second = e.make(Op::matmul, {b, w}, {}, id);
    if (!first || !second) return;
    if (const auto expression = e.make(op, {*first, *second}, {}, id)) e.join(id, *expression, laws);
}

}  // namespace cairn::alternatives
