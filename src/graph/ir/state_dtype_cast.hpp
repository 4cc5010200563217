#pragma once

#include "graph/ir/graph_data.hpp"

#include <memory>

/// Storage of states in a narrower dtype.
namespace cairn::ir {

/// The graph with its states stored in `dtype`: those that only grow and have a wider float dtype. Appended rows are
/// cast to it, and reads are cast back; users see the state as before. So each element is rounded once. Null if there
/// is no such state.
///
///     %2 = state_append %1, %0 : f32[P + T,64]         %2 = cast %0 : f16[T,64]
///     %3 = exp %2 : f32[P + T,64]                 ->   %3 = state_append %1, %2 : f16[P + T,64]
///                                                      %4 = cast %3 : f32[P + T,64]
///                                                      %5 = exp %4 : f32[P + T,64]
std::shared_ptr<GraphData> cast_stored_states(const GraphData& graph, DType dtype);

}  // namespace cairn::ir
