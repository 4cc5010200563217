#pragma once

#include "ir/graph_data.hpp"

#include <string>

/// What the versions of states must keep to, so that all of them can lie in one memory. Both say the first fault in
/// words; empty when there is none.
namespace cairn::inline v0::ir {

/// Of what outputs and commits rest on, each version is changed at most once, and the one that a run leaves not at all:
/// the versions of a state are a chain.
///
///     %3 = state_append %2, %0     %4 = state_append %2, %1     // two states of affairs in one memory
std::string version_fault(const GraphData& graph);

/// States that grow by one symbol grow by the same size, for the symbol is the length of them all.
std::string growth_fault(const GraphData& graph);

}  // namespace cairn::inline v0::ir
