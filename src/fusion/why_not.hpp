#pragma once

#include "cairn/kernel.hpp"
#include "graph/ir/graph_data.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cairn::fusion {

/// Why no match of the definition `name` computes `node`: which part of the definition the graph lacks, by the guess
/// that came furthest. Empty if there is a match.
///
///     %7 = layer norm as E[x^2] - E[x]^2, layer_norm   ->   layer_norm eps=1 on (%0, %1, %2): `sum axes=(-1)`
///     to f32[2,5,1] is not computed here
std::string why_not(const ir::GraphData& graph, ir::NodeId node, std::span<const Definition> definitions,
                    std::string_view name);

/// The node that comes nearest to a match, and why it is none.
struct Miss {
    ir::NodeId node = 0;
    std::string reason;
};

/// Nothing if the definition matches at one of the nodes. `nodes` must not be empty.
std::optional<Miss> nearest_miss(const ir::GraphData& graph, std::span<const ir::NodeId> nodes,
                                 std::span<const Definition> definitions, std::string_view name);

}  // namespace cairn::fusion
