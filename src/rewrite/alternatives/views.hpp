#pragma once

#include "graph/ir/op_table.hpp"

#include <cstddef>

/// Chains of views, as equivalence rules follow them.
namespace cairn::alternatives {

/// Maximum length of a chain of views.
inline constexpr std::size_t max_views = 8;

/// True for a movement op with a single operand.
inline bool is_single_view(const ir::Node& node) {
    return ir::is(node, ir::OpClass::movement) && node.operands.size() == 1;
}

}  // namespace cairn::alternatives
