#pragma once

#include "rewrite/alternatives/expander.hpp"

#include <span>
#include <string_view>

/// Equivalence rules: each adds expressions of a value that pay only sometimes. A rewrite that is never worse is a rule
/// of simplify instead.
namespace cairn::alternatives {

/// One equivalence rule.
///
///     {"scale_weight", "(x @ w) * c -> x @ (w * c)", "c is a bound scalar", {Law::distributed}, Op::mul, scale_weight}
struct EquivalenceRule {
    std::string_view name;   ///< used to disable the rule, and in dumps
    std::string_view law;    ///< "value -> other expression", for docs/laws.md; @ is a product of matrices
    std::string_view where;  ///< conditions on the operands; empty: everywhere
    Laws laws;               ///< the laws on which the equality rests
    ir::Op root;             ///< op of the nodes the rule is tried on
    /// Makes expressions around node `id` and joins them to values; the normal form must prove each of them (see
    /// verify). The nodes it makes must be bound, or depend only on values on which the value depends.
    void (*apply)(Expander& expander, ir::NodeId id, Laws laws);
};

/// All rules, in the order in which each is applied to the whole graph: later rules see the nodes that earlier ones
/// made.
std::span<const EquivalenceRule> all_equivalence_rules();

// reassociate.cpp
void reassociate(Expander& expander, ir::NodeId product, Laws laws);
// norm_weight.cpp
void norm_weight(Expander& expander, ir::NodeId product, Laws laws);
// scale_weight.cpp
void scale_weight(Expander& expander, ir::NodeId scaled, Laws laws);
// distribute.cpp
void add_products(Expander& expander, ir::NodeId sum, Laws laws);
void multiply_terms(Expander& expander, ir::NodeId product, Laws laws);
// merge_products.cpp
void merge_products(Expander& expander, ir::NodeId product, Laws laws);
// map_parts.cpp
void map_parts(Expander& expander, ir::NodeId part, Laws laws);
// slice_product.cpp
void slice_product(Expander& expander, ir::NodeId slice, Laws laws);
// split_product.cpp
void split_product(Expander& expander, ir::NodeId product, Laws laws);
// widen_views.cpp
void widen_views(Expander& expander, ir::NodeId view, Laws laws);
// move_expressions.cpp
void move_expressions(Expander& expander);
// round_operands.cpp
void round_operands(Expander& expander);

}  // namespace cairn::alternatives
