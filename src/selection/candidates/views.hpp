#pragma once

#include "graph/ir/graph_data.hpp"
#include "graph/ir/verify_states.hpp"

#include <optional>
#include <vector>

/// View analysis: values that need no memory of their own because offset and strides read them in another value's
/// memory.
namespace cairn::selection {

/// A strided view: the value's elements lie in the memory of `base`, from `offset` on, `strides` apart (in elements).
///
///     %1 = slice %0 axis=(-1) start=(768) stop=(1536) : f32[T,768]   ->   base %0, offset 768, strides (2304, 1)
struct ValueView {
    ir::NodeId base = 0;  ///< the value itself if it has memory of its own
    Dim offset = 0;
    std::vector<Dim> strides;
};

/// The view of every node. Movement ops are views wherever strides can express the result. A reshape that strides
/// cannot express and every other op has dense memory of its own. Versions of a state lie in the state's memory, whose
/// growing axis is strided at capacity.
std::vector<ValueView> views_of(const ir::GraphData& graph);

/// The strides under which memory of `shape` and `strides` reads as `target` in row-major order. Empty if no strides
/// provably do.
std::optional<std::vector<Dim>> reshape_strides(const Shape& shape, const std::vector<Dim>& strides,
                                                const Shape& target);

/// Strides that broadcast a tensor of `shape` to `target` (NumPy rules): 0 on broadcast and added axes.
std::vector<Dim> broadcast_strides(const Shape& shape, const std::vector<Dim>& strides, const Shape& target);

/// The state of which a state_read, state_append or state_write node is a version.
const ir::StateInfo& state_of(const ir::GraphData& graph, ir::NodeId version);

/// The shape of a state's memory: its live shape with the capacity on the growing axis, if any, and other symbols at
/// their upper bounds.
Shape capacity_shape(const ir::StateInfo& state);

}  // namespace cairn::selection
