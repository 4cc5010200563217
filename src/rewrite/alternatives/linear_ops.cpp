#include "rewrite/alternatives/linear_ops.hpp"

#include "rewrite/alternatives/weights.hpp"

namespace cairn::alternatives {

using ir::Node;
using ir::NodeId;
using ir::Op;

namespace {

// The only reader of a matmul, which may add a bias: a node of the program, or of the expression the matmul was made
// for.
std::optional<NodeId> biased(const Expander& e, NodeId matmul) {
    const bool has_value = e.is_original(matmul) || e.is_joined(matmul);
    std::optional<NodeId> user = has_value ? e.single_user(e.value_of(matmul)) : std::nullopt;
    if (!has_value && e.users(matmul).size() == 1) user = e.users(matmul)[0];
    return user;
}

}  // namespace

std::optional<NodeId> bias_in(const Expander& e, NodeId add, NodeId product) {
    const Node &node = e.node(add), &of = e.node(product);
    if (node.op != Op::add || node.shape != of.shape || of.shape.empty()) return std::nullopt;
    const NodeId other = node.operands[node.operands[0] == product ? 1 : 0];
    return other != product && is_bound_row(e, other, of.shape.back()) ? std::optional(other) : std::nullopt;
}

std::optional<LinearOp> linear_op_of(const Expander& e, NodeId matmul) {
    const Node& node = e.node(matmul);
    if (node.op != Op::matmul || !is_float(node.dtype) || e.is_bound(node.operands[0])) return std::nullopt;
    const NodeId x = node.operands[0], w = node.operands[1];
    if (!e.is_bound(w) || e.node(w).shape.size() != 2) return std::nullopt;
    LinearOp product{matmul, x, w, std::nullopt, e.value_of(matmul), e.laws_of(matmul), e.is_original(matmul)};
    const bool has_value = e.is_original(matmul) || e.is_joined(matmul);
    if (const auto add = biased(e, matmul)) {
        const NodeId read = has_value ? e.value_of(matmul) : matmul;
        if (const auto bias = bias_in(e, *add, read); bias && (has_value || e.is_joined(*add))) {
            product.bias = bias;
            product.value = e.value_of(*add);
            product.laws = product.laws | e.laws_of(*add);
            return product;
        }
    }
    return has_value ? std::optional(product) : std::nullopt;
}

std::vector<LinearOp> linear_ops_at(const Expander& e, NodeId value) {
    std::vector<LinearOp> found;
    const auto add = [&](NodeId matmul) {
        if (const auto product = linear_op_of(e, matmul); product && product->value == value) found.push_back(*product);
    };
    for (const NodeId expression : e.expressions(value)) {
        add(expression);
        for (const NodeId operand : e.node(expression).operands)
            for (const NodeId matmul : e.expressions(e.value_of(operand))) add(matmul);
    }
    return found;
}

std::optional<NodeId> make_linear_op(Expander& e, NodeId x, NodeId w, std::optional<NodeId> bias, NodeId like) {
    const auto product = e.make(Op::matmul, {x, w}, {}, like);
    return product && bias ? e.make(Op::add, {*product, *bias}, {}, like) : product;
}

}  // namespace cairn::alternatives
