#pragma once

#include "graph/ir/graph_data.hpp"

#include <string>

/// The text form of a graph. parse_graph reads it back as an equal graph: the same nodes in the same order, dead ones
/// too.
///
///     graph two_layers (N in 1..1024)
///     %0 = input "x" : f32[N,3]
///     %1 = weight "w" : f32[3,2]
///     %2 = matmul %0, %1 : f32[N,2]
///     %3 = constant 0.5 : f32[]
///     %4 = mul %2, %3 : f32[N,2]
///     %5 = sum %4 axes=(-1) : f32[N,1]
///     %6 = constant {1, 2} : f32[2]
///     %7 = state_read "k" axis=(-2) capacity=(64) : f32[P,2]
///     %8 = state_append %7, %4 : f32[N + P,2]
///     %9 = state_read "last" initial={1, 0} : f32[2]
///     %10 = state_write %9, %6 start=(0) : f32[2]
///     output "y" %5
///     state "k" %8
///     state "last" %10
///
/// One line per node: number, op, name (a JSON string), operands, attributes in the order of the op's row in op_table,
/// `:` and the type. A list attribute is in parentheses, a number is bare; dtypes and devices are numbers of their
/// enum. A state without axis and capacity has a fixed size; it begins with zeros unless `initial` values are given.
/// Rows are written at `start`, one size per axis. Values print with the shortest digits that read back to the same
/// ones: a scalar's bare, others in braces. After the nodes, `output` lines name results, and a `state` line gives the
/// version of each state that a run commits. A value that the user named has `as "scores"` after its type. The parser
/// also takes empty lines and lines that begin with `#`.
namespace cairn::ir {

/// Without the users' names of values; digests are computed from this text.
std::string print(const GraphData& graph);
/// With the users' names of values.
std::string print_named(const GraphData& graph);

/// One node's line without its number: `mul %2, %3 : f32[N,2]`.
std::string print_node(const GraphData& graph, NodeId id);

}  // namespace cairn::ir
