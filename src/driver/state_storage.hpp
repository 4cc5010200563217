#pragma once

#include "cairn/compile.hpp"

#include <vector>

/// In which dtype states are stored: as they were declared, or narrower, where that is faster and a tolerance has room
/// for what it rounds.
namespace cairn::driver {

struct StoredStates {
    DType dtype = DType::f32;
    Graph graph;  ///< whose states are stored so
};

/// The graph with all states that only grow stored in each narrower dtype whose rounding the tolerances have room for:
/// once for each state that shows in an output. None beside a memory limit: the exact program, by which the first runs
/// are verified, takes the states as they were declared.
std::vector<StoredStates> narrower_states(const Graph& graph, const CompileOptions& options);

/// What storing states narrower has to gain, as a part of the seconds that all programs take, to be chosen.
inline constexpr double min_storage_gain = 0.005;

}  // namespace cairn::driver
