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

// Smaller values are read from a cache unrounded: 256 KiB.
constexpr std::int64_t min_elements = 1 << 16;

/// True for a value that is computed in f32 in each run and is large for some sizes.
bool is_worth_rounding(const Expander& e, NodeId id) {
    const Node& node = e.node(id);
    if (node.dtype != DType::f32 || e.is_bound(id) || ir::is_state_version(node)) return false;
    if (node.op == Op::cast && is_widening(e.node(node.operands[0]).dtype, node.dtype)) return false;
    return element_count(node.shape).upper_bound() >= min_elements;
}

}  // namespace

// The right operand of a product, which each row of the result reads whole, may be kept in bf16 and widened by the
// kernel that reads it. The operand's views are rounded with it:
//
//     %3 = transpose %2                        %3 = transpose %2     %5 = cast %2     %6 = transpose %5
//     %4 = matmul %1, %3 : f32[64,4096]   ->   %4 = matmul %1, %3    %2 rounded: %5   %3 rounded: %6
//
// A slice is rounded by itself: others may read the rest of the value it is cut from.
void round_operands(Expander& e) {
    const NodeId count = e.size();
    for (NodeId product = 0; product < count; ++product) {
        e.go_on();
        if (!e.is_original(product) || e.node(product).op != Op::matmul) continue;
        std::vector<NodeId> views;
        NodeId whole = e.node(product).operands[1];
        for (; is_single_view(e.node(whole)) && e.node(whole).op != Op::slice && views.size() < max_views;
             whole = e.node(whole).operands[0])
            views.push_back(whole);
        if (!is_worth_rounding(e, whole)) continue;
        const Attributes narrow{{"dtype", std::vector<Dim>{static_cast<int>(DType::bf16)}}};
        std::optional<NodeId> rounded = e.make(Op::cast, {whole}, narrow, whole);
        // A value that the program rounds itself is left out: the program may round it otherwise too.
        if (!rounded || e.is_original(*rounded)) continue;
        e.round(whole, *rounded);
        for (; rounded && !views.empty(); views.pop_back()) {
            const NodeId view = views.back();
            rounded = e.make(e.node(view).op, {*rounded}, e.node(view).attributes, view);
            if (rounded) e.round(view, *rounded);
        }
    }
}

}  // namespace cairn::alternatives
