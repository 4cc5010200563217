#pragma once

#include "cairn/kernel.hpp"
#include "graph/ir/graph_data.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cairn::fusion {

/// Why no tile of the definition `name` gives `node`: what of it the graph has not, by the guess that came furthest.
/// Nothing where there is one.
///
///     %7 = layer norm spelled as E[x^2] - E[x]^2, layer_norm   ->   layer_norm eps=1 on (%0, %1, %2): `sum axes=(-1)`
///     of f32[2,5,64] is not computed here
std::string why_not(const ir::GraphData& graph, ir::NodeId node, std::span<const Definition> definitions,
                    std::string_view name);

/// Of several nodes the one that comes nearest, and why it is none.
struct Miss {
    ir::NodeId node = 0;
    std::string reason;
};

/// Nothing where one of the nodes is what the definition computes. `nodes` must not be empty.
std::optional<Miss> nearest_miss(const ir::GraphData& graph, std::span<const ir::NodeId> nodes,
                                 std::span<const Definition> definitions, std::string_view name);

}  // namespace cairn::fusion
