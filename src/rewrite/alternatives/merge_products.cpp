#include "rewrite/alternatives/equivalence_rule.hpp"
#include "rewrite/alternatives/linear_ops.hpp"
#include "rewrite/alternatives/weights.hpp"

#include <algorithm>

namespace cairn::alternatives {
namespace {

using ir::NodeId;
using ir::Op;
using LinearOps = std::vector<LinearOp>;

// Larger groups are not merged: a slice searches for its part among all.
constexpr std::size_t max_merged = 64;

// The first product with this left operand; all such products are merged at it.
std::optional<NodeId> first_with_operand(const Expander& e, NodeId x) {
    for (const NodeId user : e.users(x))
        if (e.node(user).op == Op::matmul && e.node(user).operands[0] == x && linear_op_of(e, user)) return user;
    return std::nullopt;
}

LinearOps linear_ops_with_operand(const Expander& e, NodeId x) {
    LinearOps found;
    for (const NodeId user : e.users(x))
        if (auto product = linear_op_of(e, user); product && product->x == x) found.push_back(*product);
    return found;
}

// Maximum length of the path from a product to one that other rules made from it.
constexpr std::size_t max_steps = 8;

// True for a value that is only an intermediate result of another product's value: x w if there is x (w c) for (x w) c.
bool is_intermediate(const Expander& e, const LinearOps& products, NodeId value) {
    auto user = e.single_user(value);
    for (std::size_t i = 0; user && i < max_steps; ++i, user = e.single_user(*user))
        if (std::any_of(products.begin(), products.end(), [&](const LinearOp& p) { return p.value == *user; }))
            return true;
    return false;
}

LinearOps without_intermediates(const Expander& e, const LinearOps& products) {
    LinearOps rest;
    std::copy_if(products.begin(), products.end(), std::back_inserter(rest),
                 [&](const LinearOp& product) { return !is_intermediate(e, products, product.value); });
    return rest;
}

std::optional<NodeId> merged_bias(Expander& e, const LinearOps& products) {
    std::vector<NodeId> rows;
    for (const LinearOp& product : products) {
        const auto row = as_row(e, *product.bias);
        if (!row) return std::nullopt;
        rows.push_back(*row);
    }
    return e.make(Op::concat, rows, {{"axis", std::vector<Dim>{-1}}}, products[0].matmul);
}

void merge(Expander& e, const LinearOps& products, Laws laws) {
    if (products.size() < 2 || products.size() > max_merged) return;
    const bool biased =
        std::all_of(products.begin(), products.end(), [](const LinearOp& product) { return product.bias.has_value(); });
    const auto value_in = [&](const LinearOp& product) { return biased ? product.value : e.value_of(product.matmul); };
    std::vector<NodeId> matrices;
    for (const LinearOp& product : products) {
        if (!e.is_original(value_in(product))) return;
        matrices.push_back(product.w);
    }
    const auto w = concat_columns(e, matrices);
    const auto bias = biased ? merged_bias(e, products) : std::nullopt;
    if (!w || (biased && !bias)) return;
    const auto whole = make_linear_op(e, products[0].x, *w, bias, value_in(products[0]));
    if (!whole) return;
    Dim begin = 0;
    for (const LinearOp& product : products) {
        const Dim end = begin + e.node(product.w).shape.back();
        const Attributes cut{{"axis", std::vector<Dim>{-1}},
                             {"start", std::vector<Dim>{begin}},
                             {"stop", std::vector<Dim>{end}},
                             {"step", std::vector<Dim>{1}}};
        if (const auto part = e.make(Op::slice, {*whole}, cut, value_in(product)))
            e.join(value_in(product), *part, laws | product.laws);
        begin = end;
    }
}

}  // namespace

// Products that share their left operand are slices of one product (queries, keys and values; gate and up):
//
//     %4 = matmul %x, %w1        %6 = matmul %x, (concat %w1, %w2)     %7 = slice %6 = %4
//     %5 = matmul %x, %w2   ->                                         %8 = slice %6 = %5
//
// If each has a bias and nothing else reads the products, the biases are merged too, and the slices are expressions of
// the sums. Applied once to the products of the program, and once to those that other rules made of them.
void merge_products(Expander& e, NodeId id, Laws laws) {
    const NodeId x = e.node(id).operands[0];
    if (first_with_operand(e, x) != id) return;
    const LinearOps all = linear_ops_with_operand(e, x);
    LinearOps own;
    std::copy_if(all.begin(), all.end(), std::back_inserter(own), [](const LinearOp& p) { return p.is_original; });
    merge(e, own, laws);
    if (own.size() < all.size() && all.size() <= 2 * max_merged) merge(e, without_intermediates(e, all), laws);
}

}  // namespace cairn::alternatives
