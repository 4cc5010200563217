#pragma once

#include "graph/ir/graph_data.hpp"

/// Shape and dtype rules, one function a family of ops.
namespace cairn::ir {

struct Inferred {
    DType dtype;
    Shape shape;
};

/// The dtype and shape of `op` on `operands`. Attributes may hold non-negative axes and a -1 size in reshape; they are
/// brought into stored form (negative axes, sizes known) in place. Throws Error(graph) `[part] what was expected,
/// operands as f32[4,3] (file:line)`.
Inferred infer(const GraphData& graph, Op op, std::span<const NodeId> operands, Attributes& attributes,
               const std::source_location& where);

/// NumPy broadcasting of two shapes; nothing where they do not fit provably.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);

}  // namespace cairn::ir
