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
    EquivalenceRule{"reassociate", "(a @ b) @ c -> a @ (b @ c)", "either way, one step, or at the end of a chain all of up to 8 factors; values with other users stay whole; fewer multiplications, or up to twice as many if bound factors become one weight", {Law::reassociated}, Op::matmul, reassociate},
    EquivalenceRule{"norm_weight", "(n * g + r) @ w -> n @ (g^T * w) + r @ w", "g and r are bound rows", {Law::distributed}, Op::matmul, norm_weight},
    EquivalenceRule{"scale_weight", "(x @ w + b) * c -> x @ (w * c) + b * c", "c is a bound scalar or row, and the product has no other user", {Law::distributed}, Op::mul, scale_weight},
    EquivalenceRule{"scale_weight", "(x @ w + b) / c -> x @ (w / c) + b / c", "c is a bound scalar or row, and the product has no other user", {Law::distributed}, Op::div, scale_weight},
    EquivalenceRule{"distribute", "x @ w + x @ v -> x @ (w + v)", "w and v are bound, or low-rank factors of bound values; the products have no other user", multiplied_out, Op::add, add_products},
    EquivalenceRule{"distribute", "x @ w - x @ v -> x @ (w - v)", "w and v are bound, or low-rank factors of bound values; the products have no other user", multiplied_out, Op::sub, add_products},
    EquivalenceRule{"distribute", "(a + b) @ w -> a @ w + b @ w", "a and b are repeated along axes of the other", multiplied_out, Op::matmul, multiply_terms},
    EquivalenceRule{"merge_products", "x @ w -> slice(x @ concat(w, v))", "x @ v is read too; likewise with a bias behind each", {}, Op::matmul, merge_products},
    EquivalenceRule{"slice_product", "slice(x @ w) -> x @ slice(w)", "slice(x) @ w of rows; likewise further inward through ops that compute each element from the same position; only slices along one axis read the whole, and the values they pass have no other user; several slices only down to a product, and only if they omit a part or one is an output", {}, Op::slice, slice_product},
    EquivalenceRule{"split_product", "concat(x, y) @ w -> x @ slice(w) + y @ slice(w)", "only products read the concat, of up to 4 parts", {Law::reassociated}, Op::matmul, split_product},
    EquivalenceRule{"map_parts", "gather(f(t), ids) -> f(gather(t, ids))", "either way; f is elementwise, t is bound, and the other operands of f are bound and the same in every part", {}, Op::gather, map_parts},
    EquivalenceRule{"map_parts", "slice(f(t)) -> f(slice(t))", "the same, at a position known only in a run", {}, Op::slice, map_parts},
    EquivalenceRule{"widen_views", "reshape(cast(x)) -> cast(reshape(x))", "the cast widens a value that is not bound, and a view cuts it or it is a state; likewise several views in a row", {}, Op::reshape, widen_views},
    EquivalenceRule{"widen_views", "transpose(cast(x)) -> cast(transpose(x))", "the cast widens a value that is not bound, and a view cuts it or it is a state; likewise several views in a row", {}, Op::transpose, widen_views},
    EquivalenceRule{"widen_views", "broadcast(cast(x)) -> cast(broadcast(x))", "the cast widens a value that is not bound, and a view cuts it or it is a state; likewise several views in a row", {}, Op::broadcast, widen_views},
    EquivalenceRule{"widen_views", "slice(cast(x)) -> cast(slice(x))", "the cast widens a value that is not bound, and a view cuts it or it is a state; likewise several views in a row", {}, Op::slice, widen_views},
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
