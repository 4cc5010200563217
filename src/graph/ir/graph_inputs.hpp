#pragma once

#include "graph/ir/graph_data.hpp"

#include <span>

/// The leaves a graph grows from, checked: what Graph and the parser both call.
namespace cairn::ir {

/// An input or weight. Throws Error(graph) for a name that is ill-formed or taken, a size that may be negative or is of
/// another graph's symbols, and a weight with a symbol in its shape.
NodeId add_input(GraphData& graph, std::string_view name, DType dtype, Shape shape, const std::source_location& where);
NodeId add_weight(GraphData& graph, std::string_view name, DType dtype, Shape shape, const std::source_location& where);

/// A state, its state_read node and its row in states(): returns the row's index. The size of `axis` is a bare symbol,
/// or a constant where a graph was specialized.
std::size_t add_state(GraphData& graph, std::string_view name, DType dtype, Shape shape, std::int64_t axis,
                      std::int64_t capacity, const std::source_location& where);
/// A state of fixed size; its shape is constant.
std::size_t add_state(GraphData& graph, std::string_view name, DType dtype, Shape shape,
                      const std::source_location& where);
/// The same where it begins with these values, which become elements as those of a constant do.
std::size_t add_state(GraphData& graph, std::string_view name, DType dtype, Shape shape,
                      std::span<const double> initial, const std::source_location& where);
std::size_t add_state(GraphData& graph, std::string_view name, DType dtype, Shape shape,
                      std::span<const std::int64_t> initial, const std::source_location& where);

/// A table of values, each rounded to dtype; throws Error(graph) for a symbol in the shape, and when there are more or
/// fewer values than elements.
NodeId add_constant(GraphData& graph, DType dtype, Shape shape, std::span<const double> values,
                    const std::source_location& where);

/// The same of integers, each reduced to dtype as by `cast`, exactly where dtype is i64.
NodeId add_constant(GraphData& graph, DType dtype, Shape shape, std::span<const std::int64_t> values,
                    const std::source_location& where);
/// Gives a node its values, each reduced to its dtype as by `cast`, exactly where that is i64.
void set_values(Node& node, std::span<const std::int64_t> values);
/// The value of a size as a scalar: a constant, or nodes that count to it where it has symbols.
NodeId add_size(GraphData& graph, DType dtype, const Dim& value, const std::source_location& where);

}  // namespace cairn::ir
