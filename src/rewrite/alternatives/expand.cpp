#include "rewrite/alternatives/expand.hpp"

#include "rewrite/alternatives/equivalence_rule.hpp"

#include <algorithm>
#include <array>

namespace cairn::alternatives {
namespace {

using ir::NodeId;
using ir::Op;

constexpr Laws multiplied_out{Law::distributed, Law::reassociated};

// clang-format off
constexpr std::array rows = {
    EquivalenceRule{"reassociate", "(a b) c = a (b c), of matrices", {Law::reassociated}, Op::matmul, reassociate},
    EquivalenceRule{"norm_weight", "(n g + r) w = n (g w) + r w, for bound rows g and r", {Law::distributed}, Op::matmul, norm_weight},
    EquivalenceRule{"scale_weight", "(x w + b) c = x (w c) + b c, for a bound scalar or row c", {Law::distributed}, Op::mul, scale_weight},
    EquivalenceRule{"scale_weight", "(x w + b) c = x (w c) + b c, for a bound scalar or row c", {Law::distributed}, Op::div, scale_weight},
    EquivalenceRule{"distribute", "x w + x v = x (w + v), for bound w and v", multiplied_out, Op::add, add_products},
    EquivalenceRule{"distribute", "x w - x v = x (w - v), for bound w and v", multiplied_out, Op::sub, add_products},
    EquivalenceRule{"distribute", "(a + b) w = a w + b w, where a and b are repeated", multiplied_out, Op::matmul, multiply_terms},
    EquivalenceRule{"merge_products", "x w1 = slice(x concat(w1, w2)), and so with a bias behind each", {}, Op::matmul, merge_products},
    EquivalenceRule{"slice_product", "slice(x w) = slice(x) w of rows, x slice(w) of columns, and so through what computes each element apart", {}, Op::slice, slice_product},
    EquivalenceRule{"split_product", "concat(x, y) w = x slice(w) + y slice(w)", {Law::reassociated}, Op::matmul, split_product},
    EquivalenceRule{"map_parts", "gather(f(t), ids) = f(gather(t, ids)), elementwise f of a bound t", {}, Op::gather, map_parts},
    EquivalenceRule{"map_parts", "slice(f(t)) = f(slice(t)), elementwise f of a bound t, at a place known only in a run", {}, Op::slice, map_parts},
    EquivalenceRule{"widen_views", "view(cast(x)) = cast(view(x)), of a cast that widens", {}, Op::reshape, widen_views},
    EquivalenceRule{"widen_views", "view(cast(x)) = cast(view(x)), of a cast that widens", {}, Op::transpose, widen_views},
    EquivalenceRule{"widen_views", "view(cast(x)) = cast(view(x)), of a cast that widens", {}, Op::broadcast, widen_views},
    EquivalenceRule{"widen_views", "view(cast(x)) = cast(view(x)), of a cast that widens", {}, Op::slice, widen_views},
};
// clang-format on

}  // namespace

std::span<const EquivalenceRule> all_equivalence_rules() { return rows; }

Expansion expand(const ir::GraphData& graph, const Options& options) {
    Expander expander(graph, options.stop);
    for (const EquivalenceRule& row : all_equivalence_rules()) {
        if (std::find(options.disabled.begin(), options.disabled.end(), row.name) != options.disabled.end()) continue;
        const NodeId count = expander.size();
        for (NodeId id = 0; id < count; ++id) {
            expander.go_on();
            if (expander.node(id).op == row.root) row.apply(expander, id, row.laws);
        }
    }
    move_expressions(expander);
    if (options.round_operands) round_operands(expander);
    Expansion result = expander.finish();
    result.classes = proved(*result.graph, result.classes, options.stop);
    return result;
}

}  // namespace cairn::alternatives
