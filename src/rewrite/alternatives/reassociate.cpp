#include "rewrite/alternatives/equivalence_rule.hpp"
#include "rewrite/alternatives/weights.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace cairn::alternatives {
namespace {

using ir::Node;
using ir::NodeId;
using ir::Op;

// In a longer chain the remaining factors at one end are taken as one.
constexpr std::size_t max_factors = 8;

/// A value, and the multiplications that it takes in each run.
struct ChainProduct {
    NodeId id;
    Dim work = 0;
    int products = 0;
};

using Operands = std::pair<NodeId, NodeId>;

ChainProduct with_work(const Expander& e, NodeId product, const Operands& sides, ChainProduct made) {
    made.id = product;
    if (e.is_bound(product)) return {product, 0, 0};
    Dim work = e.node(sides.first).shape.back();
    for (const Dim& size : e.node(product).shape) work = work * size;
    made.work = made.work + work;
    ++made.products;
    return made;
}

std::optional<ChainProduct> multiplied(Expander& e, const ChainProduct& a, const ChainProduct& b, NodeId like) {
    const bool is_weight = e.is_bound(a.id) && e.is_bound(b.id);
    const auto product = is_weight ? matrix_product(e, a.id, b.id) : e.make(Op::matmul, {a.id, b.id}, {}, like);
    if (!product) return std::nullopt;
    return with_work(e, *product, {a.id, b.id}, {*product, a.work + b.work, a.products + b.products});
}

// True if `value` is computed for `user` alone. A value with other readers is computed in any case, a bound one only
// once.
bool has_single_reader(const Expander& e, NodeId value, NodeId user) {
    return e.is_bound(value) || e.single_user(value) == user;
}

/// The operands of a product of floats, or of the product whose transposed view `id` is: (a b)^T = b^T a^T.
std::optional<Operands> operands_of(Expander& e, NodeId id) {
    const Node& node = e.node(id);
    if (!is_float(node.dtype)) return std::nullopt;
    if (node.op == Op::matmul) return Operands(node.operands[0], node.operands[1]);
    const auto stored = stored_matrix(e, id);
    if (!stored || e.node(*stored).op != Op::matmul || !has_single_reader(e, *stored, id)) return std::nullopt;
    const NodeId a = e.node(*stored).operands[0], b = e.node(*stored).operands[1];
    if (e.node(a).shape.size() != 2 || e.node(b).shape.size() != 2) return std::nullopt;
    const auto left = transposed(e, b), right = transposed(e, a);
    return left && right ? std::optional(Operands(*left, *right)) : std::nullopt;
}

/// A chain nested at one side, with its factors from left to right: (a b) c at side 0, a (b c) at side 1.
struct Chain {
    std::vector<NodeId> factors;
    ChainProduct whole;
};

Chain chain_at(Expander& e, NodeId product, std::size_t side, std::size_t most) {
    Chain chain{{}, {product}};
    NodeId rest = product;
    while (chain.factors.size() + 1 < most) {
        const auto sides = operands_of(e, rest);
        if (!sides) break;
        if (!e.is_bound(rest)) chain.whole = with_work(e, rest, *sides, chain.whole);
        const auto [inner, other] = side == 0 ? *sides : Operands(sides->second, sides->first);
        chain.factors.push_back(other);
        const bool is_alone = has_single_reader(e, inner, rest);
        rest = inner;
        if (!is_alone) break;
    }
    chain.factors.push_back(rest);
    if (side == 0) std::reverse(chain.factors.begin(), chain.factors.end());
    return chain;
}

// True if the product is an inner part of a longer chain.
bool is_inner(const Expander& e, NodeId product, std::size_t side) {
    const auto user = e.single_user(product);
    return user && e.node(*user).op == Op::matmul && e.node(*user).operands[side] == product;
}

std::optional<ChainProduct> nested(Expander& e, const std::vector<NodeId>& factors, std::size_t side, NodeId like) {
    std::optional<ChainProduct> result = ChainProduct{side == 0 ? factors.front() : factors.back()};
    for (std::size_t i = 1; result && i < factors.size(); ++i)
        result = side == 0 ? multiplied(e, *result, {factors[i]}, like)
                           : multiplied(e, {factors[factors.size() - 1 - i]}, *result, like);
    return result;
}

// True if `after` has fewer multiplications at some sizes; with fewer products it may have up to twice as many.
bool may_pay(const ChainProduct& before, const ChainProduct& after) {
    return !provably_le(before.work * (after.products < before.products ? 2 : 1), after.work);
}

void nest_differently(Expander& e, NodeId product, std::size_t side, std::size_t most, Laws laws) try {
    const Chain chain = chain_at(e, product, side, most);
    if (chain.factors.size() < 3) return;
    const auto other = nested(e, chain.factors, 1 - side, product);
    if (other && may_pay(chain.whole, *other)) e.join(product, other->id, laws);
} catch (const InternalError&) { throw; } catch (const Error&) {
    // The sizes exceed 64 bits.
}

}  // namespace

// Nests a chain of products differently: one step of it, and at its end the whole chain of up to eight factors:
//
//     %4 = matmul %x, %a      matmul %x, (matmul %a, %b) = %5
//     %5 = matmul %4, %b  ->
//
// A product of bound factors is computed once: one direction merges low-rank factors into a weight, the other splits a
// weight into its low-rank factors.
void reassociate(Expander& e, NodeId id, Laws laws) {
    if (!e.is_original(id) || e.is_bound(id) || !is_float(e.node(id).dtype)) return;
    for (const std::size_t side : {0, 1}) {
        nest_differently(e, id, side, 3, laws);
        if (!is_inner(e, id, side)) nest_differently(e, id, side, max_factors, laws);
    }
}

}  // namespace cairn::alternatives
