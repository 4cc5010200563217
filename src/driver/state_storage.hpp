#pragma once

#include "cairn/compile.hpp"

#include <vector>

/// Storage dtypes of states: as declared, or narrower if that is faster and a tolerance permits the rounding.
namespace cairn::driver {

struct StoredStates {
    DType dtype = DType::f32;
    Graph graph;  ///< with states stored in `dtype`
};

/// The graph with all states that only grow stored in each narrower dtype whose rounding the tolerances permit. The
/// rounding counts once for each state that influences an output. None with a memory limit: the exact program that
/// verifies the first runs stores states as declared.
std::vector<StoredStates> narrower_states(const Graph& graph, const CompileOptions& options);

/// The smallest gain for which narrower states are selected, as a fraction of the time of all programs.
inline constexpr double min_storage_gain = 0.005;

}  // namespace cairn::driver
