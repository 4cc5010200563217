#include "rewrite/alternatives/equivalence_rule.hpp"
#include "rewrite/alternatives/linear_ops.hpp"
#include "rewrite/alternatives/weights.hpp"

namespace cairn::alternatives {
namespace {

using ir::Node;
using ir::NodeId;
using ir::Op;

bool is_bound_factor(const Expander& e, NodeId c, const Shape& shape) {
    return is_bound_scalar(e, c) || (!shape.empty() && is_bound_row(e, c, shape.back()));
}

/// The bias multiplied by c (divided, if `op` is div), as a row.
std::optional<NodeId> scaled_bias(Expander& e, Op op, NodeId bias, NodeId c) {
    const auto row = as_row(e, bias);
    if (!row) return std::nullopt;
    const auto factor = is_bound_scalar(e, c) ? std::optional(c) : as_row(e, c);
    const auto product = factor ? e.make(op, {*row, *factor}, {}, bias) : std::nullopt;
    return product ? as_row(e, *product) : std::nullopt;
}

}  // namespace

// Folds a factor of a product that nothing else reads into the product's weight and bias:
//
//     %4 = add (matmul %x, %w), %b     matmul %x, (mul %w, %c)     mul %b, %c
//     %5 = mul %4, %c              ->  add of the two = %5
//
// c is bound: a scalar, or a row with an element for each column. Division is handled likewise.
void scale_weight(Expander& e, NodeId id, Laws laws) {
    const Node& node = e.node(id);
    for (const std::size_t at : {1, 0}) {
        const NodeId c = node.operands[at], product = node.operands[1 - at];
        if ((at == 0 && node.op == Op::div) || e.is_bound(product)) continue;
        if (!is_bound_factor(e, c, node.shape) || e.single_user(product) != id) continue;
        for (const LinearOp& each : linear_ops_at(e, product)) {
            const auto w = scaled_columns(e, node.op, each.w, c);
            const auto bias = each.bias ? scaled_bias(e, node.op, *each.bias, c) : std::nullopt;
            if (!w || (each.bias && !bias)) continue;
            if (const auto expression = make_linear_op(e, each.x, *w, bias, id))
                e.join(id, *expression, laws | each.laws);
        }
    }
}

}  // namespace cairn::alternatives
