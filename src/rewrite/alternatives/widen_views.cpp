#include "graph/ir/verify_states.hpp"
#include "rewrite/alternatives/equivalence_rule.hpp"
#include "rewrite/alternatives/views.hpp"

#include <algorithm>
#include <vector>

namespace cairn::alternatives {
namespace {

using ir::Node;
using ir::NodeId;
using ir::Op;

bool widens(const Expander& e, const Node& node) {
    return node.op == Op::cast && is_widening(e.node(node.operands[0]).dtype, node.dtype);
}

}  // namespace

// A view of a widening cast may be taken before the cast, of the stored value; a kernel that reads narrow operands, or
// the cast alone, widens it then:
//
//     %2 = cast %1                   cast (transpose %1) = %3
//     %3 = transpose %2      ->
//
// Each view of a view is treated likewise: a match may begin after any of them. Applied only to slices, of which less
// is widened then, and to states, which kernels may read as they are stored; in other cases the cost is the same. Bound
// values are left to map_parts.
void widen_views(Expander& e, NodeId id, Laws laws) {
    if (!e.is_original(id) || e.is_bound(id) || !is_single_view(e.node(id))) return;
    std::vector<NodeId> views;
    NodeId whole = id;
    for (; is_single_view(e.node(whole)) && views.size() < max_views; whole = e.node(whole).operands[0])
        views.push_back(whole);
    if (!widens(e, e.node(whole))) return;
    const bool is_cut = std::any_of(views.begin(), views.end(), [&](NodeId v) { return e.node(v).op == Op::slice; });
    if (!is_cut && !ir::is_state_version(e.node(e.node(whole).operands[0]))) return;
    const Attributes wide = e.node(whole).attributes;
    std::optional<NodeId> view = e.node(whole).operands[0];
    while (view && !views.empty()) {
        view = e.make(e.node(views.back()).op, {*view}, e.node(views.back()).attributes, id);
        views.pop_back();
    }
    const auto spelled = view ? e.make(Op::cast, {*view}, wide, id) : std::nullopt;
    if (spelled) e.join(id, *spelled, laws);
}

}  // namespace cairn::alternatives
