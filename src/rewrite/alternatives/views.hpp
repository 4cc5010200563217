#pragma once

#include "graph/ir/op_table.hpp"

#include <cstddef>

/// Views of views, as rows follow them.
namespace cairn::alternatives {

/// As many behind one another at most.
inline constexpr std::size_t most_views = 8;

/// True of what sees one other value elsewhere.
inline bool is_single_view(const ir::Node& node) {
    return ir::is(node, ir::OpClass::movement) && node.operands.size() == 1;
}

}  // namespace cairn::alternatives
