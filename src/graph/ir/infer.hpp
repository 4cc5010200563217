#pragma once

#include "graph/ir/graph_data.hpp"

/// Shape and dtype inference, one function per family of ops.
namespace cairn::ir {

struct Inferred {
    DType dtype;
    Shape shape;
};

/// The dtype and shape of `op` on `operands`. Attributes may hold non-negative axes and a -1 size in reshape; they are
/// normalized in place to their stored form (negative axes, known sizes). Throws Error(graph) `[part] what was
/// expected, operands as f32[4,3] (file:line)`.
Inferred infer(const GraphData& graph, Op op, std::span<const NodeId> operands, Attributes& attributes,
               const std::source_location& where);

/// NumPy broadcasting of two shapes; empty if they do not provably fit.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);

}  // namespace cairn::ir
