#include "graph/ir/op_table.hpp"
#include "rewrite/alternatives/equivalence_rule.hpp"

#include <algorithm>
#include <vector>

namespace cairn::alternatives {
namespace {

using ir::Node;
using ir::NodeId;
using ir::Op;
using ir::OpClass;

// Maximum number of ops that a part is moved through, and of expressions made from one part.
constexpr int max_ops = 4;
constexpr std::size_t max_expressions = 8;

// The number of axes after the one along which a part is taken.
std::size_t axes_behind(const Node& part) { return static_cast<std::size_t>(-part.attributes.integer("axis") - 1); }

// True for bound elements that are the same for every part.
bool is_beside(const Expander& e, NodeId id, std::size_t behind) {
    const Shape& shape = e.node(id).shape;
    const auto ahead = static_cast<std::ptrdiff_t>(shape.size() - std::min(shape.size(), behind));
    return e.is_bound(id) &&
           std::all_of(shape.begin(), shape.begin() + ahead, [](const Dim& size) { return size == Dim(1); });
}

// True for an elementwise op of `x` and of operands that are the same for every part.
bool maps(const Expander& e, NodeId id, NodeId x, std::size_t behind) {
    const Node& node = e.node(id);
    return ir::is(node, OpClass::elementwise) && std::all_of(node.operands.begin(), node.operands.end(), [&](NodeId o) {
               return o == x || is_beside(e, o, behind);
           });
}

// The only operand that a bound value maps element by element; nothing if there is none, or several.
std::optional<NodeId> mapped(const Expander& e, NodeId whole, std::size_t behind) {
    for (const NodeId operand : e.node(whole).operands)
        if (e.node(operand).shape == e.node(whole).shape && !is_beside(e, operand, behind))
            return maps(e, whole, operand, behind) ? std::optional(operand) : std::nullopt;
    return std::nullopt;
}

// The same op with `other` in place of `x`.
std::optional<NodeId> made_of(Expander& e, NodeId id, NodeId x, NodeId other, NodeId like) {
    std::vector<NodeId> operands = e.node(id).operands;
    std::replace(operands.begin(), operands.end(), x, other);
    return e.make(e.node(id).op, std::move(operands), e.node(id).attributes, like);
}

// The same part of another value.
std::optional<NodeId> part_of(Expander& e, NodeId part, NodeId whole, NodeId like) {
    return made_of(e, part, e.node(part).operands[0], whole, like);
}

// Computes from the part what the program computes from the whole at bind.
void map_part(Expander& e, NodeId part, Laws laws) {
    const std::size_t behind = axes_behind(e.node(part));
    std::vector<NodeId> ops;
    NodeId whole = e.node(part).operands[0];
    for (int i = 0; i < max_ops; ++i) {
        const auto inner = mapped(e, whole, behind);
        if (!inner) return;
        ops.push_back(whole);
        std::optional<NodeId> made = part_of(e, part, *inner, part);
        NodeId under = *inner;
        for (std::size_t at = ops.size(); made && at-- > 0; under = ops[at])
            made = made_of(e, ops[at], under, *made, part);
        if (made) e.join(part, *made, laws);
        whole = *inner;
    }
}

// Computes from the whole, at bind, what the program computes from the part in each run.
void map_whole(Expander& e, NodeId part, Laws laws) {
    struct Step {
        NodeId value, whole;
        int ops;
    };
    const std::size_t behind = axes_behind(e.node(part));
    std::vector<Step> open{{part, e.node(part).operands[0], 0}};
    std::size_t spelled = 0;
    for (std::size_t i = 0; i < open.size() && open[i].ops < max_ops; ++i) {
        const Step step = open[i];
        const std::vector<NodeId> users(e.users(step.value).begin(), e.users(step.value).end());
        for (const NodeId user : users) {
            if (!e.is_original(user) || !maps(e, user, step.value, behind)) continue;
            if (spelled++ == max_expressions) return;
            const auto whole = made_of(e, user, step.value, step.whole, user);
            const auto made = whole ? part_of(e, part, *whole, user) : std::nullopt;
            if (!made || e.node(*whole).shape != e.node(step.whole).shape) continue;
            e.join(user, *made, laws);
            open.push_back({user, *whole, step.ops + 1});
        }
    }
}

}  // namespace

// An elementwise function of a bound value is computed once for the whole value, or in each run for the part that is
// read:
//
//     %2 = cast %table                  cast (gather %table, %ids) = %3
//     %3 = gather %2, %ids      <->
//
// The part is a gather, or a slice whose place is known only in a run. Which one pays depends on how much of the whole
// is read, and on what of it is kept in any case.
void map_parts(Expander& e, NodeId id, Laws laws) {
    const NodeId whole = e.node(id).operands[0];
    if (!e.is_original(id) || e.is_bound(id) || !e.is_bound(whole)) return;
    const Shape& shape = e.node(whole).shape;
    if (shape[shape.size() - 1 - axes_behind(e.node(id))] == Dim(1)) return;
    map_part(e, id, laws);
    map_whole(e, id, laws);
}

}  // namespace cairn::alternatives
