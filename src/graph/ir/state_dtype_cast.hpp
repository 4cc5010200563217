#pragma once

#include "graph/ir/graph_data.hpp"

#include <memory>

/// The dtype in which states are stored.
namespace cairn::ir {

/// The graph whose states are stored in `dtype`: of all that only grow, in a float dtype wider than that. What is
/// appended is cast to it, what is read is cast back; users see the state as before. So each element is rounded once.
/// Null where there is no such state.
///
///     %2 = state_append %1, %0 : f32[P + T,64]         %2 = cast %0 : f16[T,64]
///     %3 = exp %2 : f32[P + T,64]                 ->   %3 = state_append %1, %2 : f16[P + T,64]
///                                                      %4 = cast %3 : f32[P + T,64]
///                                                      %5 = exp %4 : f32[P + T,64]
std::shared_ptr<GraphData> cast_stored_states(const GraphData& graph, DType dtype);

/// The most that a number is off, as a part of it, once it has been rounded to a float dtype (of those in its range
/// that are not denormal): 2^-53, 2^-24, 2^-11 and 2^-8 for f64, f32, f16 and bf16.
double unit_roundoff(DType dtype);

}  // namespace cairn::ir
