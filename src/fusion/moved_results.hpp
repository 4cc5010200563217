#pragma once

#include "fusion/match.hpp"

#include <optional>
#include <vector>

/// Matches whose result is written to the place that movements after it would put it in.
namespace cairn::fusion {

/// For each match of one output: another match for each place to which transposes and reshapes move that output. Places
/// are the rows of an append to a state, a reshape that needs memory of its own, and an output of the graph. The new
/// match provides the value at that place, and not the computed value.
///
///     %4 = mul %2, %3   %5 = transpose %4   %6 = state_append %0, %5
///     mul (%2, %3) -> (%4)     and     mul (%2, %3) -> (%6) over %4, %5
///
///     %4 = mul %2, %3 : f32[12,T,64]   %5 = transpose %4 : f32[T,12,64]   %6 = reshape %5 : f32[T,768]
///     mul (%2, %3) -> (%4)     and     mul (%2, %3) -> (%6) over %4, %5
///
/// Matches that only move elements are left out: their result is a copy in any case.
///
/// For each product: another match, if columns of its result are moved to such places. It provides the whole result and
/// the columns at these places. Appends are included only if they are to the state before the run: then the other
/// outputs may be read as soon as the match has run.
///
///     %4 = matmul %2, %3 : f32[T,96]   %5 = slice %4 axis=(-1) start=(32) : f32[T,32]   %6 = state_append %0, %5
///     fused columns=(0,32) {2=matmul(0,1):f32} results (2,2) (%2, %3) -> (%4, %6) over %5
///
/// For each match of several outputs: another match that appends all of them that are rows of such appends.
///
///     attention_block (..) -> (%40, %12, %14)   %13 = state_append %0, %12   %15 = state_append %1, %14
///     attention_block (..) -> (%40, %13, %15) over %12, %14
std::vector<Match> with_moved_results(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                      const std::vector<Match>& matches);

/// True for movement ops that keep every element exactly once.
bool is_permutation(ir::Op op);

/// The operand that is moved to be the node's value: the rows of an append, the operand of a movement that keeps all
/// elements. Nothing for other nodes.
std::optional<ir::NodeId> moved_into(const ir::Node& node);

/// True for a slice of adjacent columns.
bool is_column_slice(const ir::Node& node);

}  // namespace cairn::fusion
