#pragma once

#include "cairn/kernel.hpp"
#include "graph/ir/graph_data.hpp"

#include <span>

/// Conversion of a Problem to a graph of atomic ops: the oracle of every kernel.
namespace cairn::ir {

/// A graph with one input `in0`, `in1`, ... for each operand of the problem (plain shapes, layouts ignored) and outputs
/// `out0`, ... that computes the problem's definition: an atomic op of that name, an `elementwise` or `fused` body,
/// `pack` (the identity), or one of `definitions`. Throws Error(argument) for an unknown definition.
Graph problem_graph(const Problem& problem, std::span<const Definition> definitions);

/// Applies an atomic op by name to tensors, with attributes as Problems and text forms write them.
Tensor apply(std::string_view op, std::span<const Tensor> operands, const Attributes& attributes,
             std::source_location where = std::source_location::current());

}  // namespace cairn::ir
