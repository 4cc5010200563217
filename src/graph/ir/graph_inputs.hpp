#pragma once

#include "graph/ir/graph_data.hpp"

#include <span>

/// Checked construction of the leaves of a graph, for Graph and the parser.
namespace cairn::ir {

/// Adds an input or weight. Throws Error(graph) for a name that is ill-formed or taken, a size that may be negative or
/// belongs to another graph's symbols, and a weight with a symbol in its shape.
NodeId add_input(GraphData& graph, std::string_view name, DType dtype, Shape shape, const std::source_location& where);
NodeId add_weight(GraphData& graph, std::string_view name, DType dtype, Shape shape, const std::source_location& where);

/// Adds a state: its state_read node and its row in states(). Returns the row's index. The size of `axis` is a bare
/// symbol, or a constant in a specialized graph.
std::size_t add_state(GraphData& graph, std::string_view name, DType dtype, Shape shape, std::int64_t axis,
                      std::int64_t capacity, const std::source_location& where);
/// A state of fixed size; its shape is constant.
std::size_t add_state(GraphData& graph, std::string_view name, DType dtype, Shape shape,
                      const std::source_location& where);
/// The same with these initial values, converted to elements like those of a constant.
std::size_t add_state(GraphData& graph, std::string_view name, DType dtype, Shape shape,
                      std::span<const double> initial, const std::source_location& where);
std::size_t add_state(GraphData& graph, std::string_view name, DType dtype, Shape shape,
                      std::span<const std::int64_t> initial, const std::source_location& where);

/// Adds a constant with these values, each rounded to dtype. Throws Error(graph) for a symbol in the shape, and if
/// there are more or fewer values than elements.
NodeId add_constant(GraphData& graph, DType dtype, Shape shape, std::span<const double> values,
                    const std::source_location& where);

/// The same from integers, each converted to dtype as by `cast`; exact if dtype is i64.
NodeId add_constant(GraphData& graph, DType dtype, Shape shape, std::span<const std::int64_t> values,
                    const std::source_location& where);
/// Sets the values of a node, each converted to its dtype as by `cast`; exact if that is i64.
void set_values(Node& node, std::span<const std::int64_t> values);
/// The value of a size as a scalar: a constant, or nodes that compute it if it has symbols.
NodeId add_size(GraphData& graph, DType dtype, const Dim& value, const std::source_location& where);

}  // namespace cairn::ir
