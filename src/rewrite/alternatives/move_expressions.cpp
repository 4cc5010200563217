#include "graph/ir/op_table.hpp"
#include "rewrite/alternatives/equivalence_rule.hpp"

namespace cairn::alternatives {

using ir::NodeId;
using ir::OpClass;

namespace {

bool is_view(const Expander& e, NodeId id) { return ir::is(e.node(id), OpClass::movement); }

// True for expressions of widen_views, which makes those of all further views itself.
bool is_widened_view(const Expander& e, NodeId id) {
    return e.node(id).op == ir::Op::cast && is_view(e, e.node(id).operands[0]);
}

}  // namespace

// If a value or one of its expressions is a view, each view of the value is also expressed as a view of the other
// expression: a view refers to one node.
//
//     %5 = matmul %x, %w1 = slice %y     transpose (reshape (slice %y))
//     %7 = transpose (reshape %5)    ->  = %7
void move_expressions(Expander& e) {
    const NodeId count = e.size();
    for (NodeId value = 0; value < count; ++value) {
        e.go_on();
        if (!e.is_original(value)) continue;
        const std::vector<NodeId> users(e.users(value).begin(), e.users(value).end());
        const std::vector<NodeId> expressions(e.expressions(value).begin(), e.expressions(value).end());
        for (const NodeId expression : expressions) {
            const bool is_elsewhere = is_view(e, expression) || is_view(e, value);
            if (expression == value || !is_elsewhere || is_widened_view(e, expression)) continue;
            for (const NodeId user : users) {
                if (!e.is_original(user) || !is_view(e, user)) continue;
                if (const auto twin = e.make(e.node(user).op, {expression}, e.node(user).attributes, user))
                    e.join(user, *twin, e.laws_of(expression));
            }
        }
    }
}

}  // namespace cairn::alternatives
