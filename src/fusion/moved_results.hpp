#pragma once

#include "fusion/match.hpp"

#include <optional>
#include <vector>

/// Tiles whose result is written where movements behind it would put it.
namespace cairn::fusion {

/// For each tile of one output, one more for each place that transposes and reshapes carry that output to: the rows of
/// an append to a state, a reshape that needs memory of its own, an output of the graph. It provides what lies there,
/// and not what it computes.
///
///     %4 = mul %2, %3   %5 = transpose %4   %6 = state_append %0, %5
///     mul (%2, %3) -> (%4)     and     mul (%2, %3) -> (%6) over %4, %5
///
///     %4 = mul %2, %3 : f32[12,T,64]   %5 = transpose %4 : f32[T,12,64]   %6 = reshape %5 : f32[T,768]
///     mul (%2, %3) -> (%4)     and     mul (%2, %3) -> (%6) over %4, %5
///
/// Tiles that move elements only give none: what is there is a copy in any case.
///
/// For each product one more, where columns of what it makes are carried so: it provides that, and these where they
/// are carried to. Of appends those to what a state holds before the run: what else the tile provides may then be read
/// whenever the tile has run.
///
///     %4 = matmul %2, %3 : f32[T,96]   %5 = slice %4 axis=(-1) start=(32) : f32[T,32]   %6 = state_append %0, %5
///     fused columns=(0,32) {2=matmul(0,1):f32} results (2,2) (%2, %3) -> (%4, %6) over %5
std::vector<Match> with_moved_results(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                      const std::vector<Match>& matches);

/// True of movements by which every element stays, once.
bool keeps_all(ir::Op op);

/// What is moved to be what the node holds: the rows of an append, the operand of a movement that keeps all. Nothing of
/// other nodes.
std::optional<ir::NodeId> moved_into(const ir::Node& node);

/// True of a slice of neighbouring columns.
bool cuts_columns(const ir::Node& node);

}  // namespace cairn::fusion
