#pragma once

#include "rewrite/alternatives/expander.hpp"

#include <span>
#include <string_view>

/// Ways to spell a value that pay only sometimes. What is never worse is no row but a rule of simplify.
namespace cairn::alternatives {

/// One way.
///
///     {"scale_weight", "(x w) c = x (w c)", {Law::distributed}, Op::mul, scale_weight}
struct EquivalenceRule {
    std::string_view name;  ///< to switch it off, and in dumps
    std::string_view law;   ///< value = other spelling, for readers
    Laws laws;              ///< what the equality rests on
    ir::Op root;            ///< the op of the nodes it looks at
    /// Makes spellings around node `id` and joins them to values; the normal form must prove each (verify does). What
    /// it makes is bound, or made of values that the value is made of.
    void (*apply)(Expander& expander, ir::NodeId id, Laws laws);
};

/// The rows in the order in which they go over the whole graph: later ones see what earlier ones made.
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
