#include "rewrite/alternatives/equivalence_rule.hpp"
#include "rewrite/alternatives/linear_ops.hpp"
#include "rewrite/alternatives/weights.hpp"

namespace cairn::alternatives {
namespace {

using ir::Node;
using ir::NodeId;
using ir::Op;

/// The last step of a norm: n * g + r, or n / g + r, with bound rows gamma (g) and beta (r). Beta may be missing.
struct NormEnd {
    NodeId n, gamma;
    Op op;
    std::optional<NodeId> beta;
};

std::optional<NormEnd> scale_in(const Expander& e, NodeId x) {
    const Node& node = e.node(x);
    if ((node.op != Op::mul && node.op != Op::div) || node.shape.empty()) return std::nullopt;
    for (const std::size_t at : {1, 0}) {
        const NodeId gamma = node.operands[at], n = node.operands[1 - at];
        const bool is_end =
            is_bound_row(e, gamma, node.shape.back()) && !e.is_bound(n) && e.node(n).shape == node.shape;
        if (is_end && (at == 1 || node.op == Op::mul)) return NormEnd{n, gamma, node.op, std::nullopt};
    }
    return std::nullopt;
}

std::optional<NormEnd> norm_end(const Expander& e, NodeId x) {
    if (auto end = scale_in(e, x)) return end;
    const Node& node = e.node(x);
    if (node.op != Op::add) return std::nullopt;
    for (const NodeId scaled : node.operands)
        if (auto end = scale_in(e, scaled)) {
            end->beta = bias_in(e, x, scaled);
            if (end->beta) return end;
        }
    return std::nullopt;
}

/// n (g w) + (r w + bias).
std::optional<NodeId> folded(Expander& e, const NormEnd& end, NodeId w, std::optional<NodeId> bias, NodeId like) {
    const auto weight = scaled_rows(e, end.op, w, end.gamma);
    std::optional<NodeId> row = bias ? as_row(e, *bias) : std::nullopt;
    if (end.beta) {
        const auto beta = row_times(e, *end.beta, w);
        if (!beta) return std::nullopt;
        row = row ? e.make(Op::add, {*beta, *row}, {}, like) : beta;
    }
    return weight ? make_linear_op(e, end.n, *weight, row, like) : std::nullopt;
}

}  // namespace

// Folds a norm's gamma and beta into the weight of the product that follows:
//
//     %5 = add (mul %n, %g), %r        %7 = mul (reshape %g), %w     matmul (reshape %r), %w
//     %6 = matmul %5, %w          ->   matmul %n, %7                 add of the two = %6
//
// If a bias is added to the product, r w is added to the bias, and the new expression is one of the biased sum.
void norm_weight(Expander& e, NodeId id, Laws laws) {
    const auto product = linear_op_of(e, id);
    if (!product || !product->is_original) return;
    const auto end = norm_end(e, product->x);
    if (!end) return;
    bool is_read_plain = !end->beta || e.is_read_outside(id);
    const std::vector<NodeId> users(e.users(id).begin(), e.users(id).end());
    for (const NodeId user : users) {
        const auto bias = e.is_original(user) ? bias_in(e, user, id) : std::nullopt;
        is_read_plain = is_read_plain || (e.is_original(user) && !bias);
        if (!bias || !end->beta) continue;
        if (const auto expression = folded(e, *end, product->w, bias, user)) e.join(user, *expression, laws);
    }
    if (!is_read_plain) return;
    if (const auto expression = folded(e, *end, product->w, std::nullopt, id)) e.join(id, *expression, laws);
}

}  // namespace cairn::alternatives
