#pragma once

#include "graph/ir/graph_data.hpp"

#include <string>

/// The versions of states, and what they must keep to, so that all of them can lie in one memory. Faults are the first
/// in words; empty when there is none.
namespace cairn::ir {

/// Whether the node's value lies in a state's memory (as a version of it, not as a view into one).
bool is_state_version(const Node& node) noexcept;

/// Of what outputs and commits rest on, each version is changed at most once, and the one that a run leaves not at all:
/// the versions of a state are a chain.
///
///     %3 = state_append %2, %0     %4 = state_append %2, %1     // two states of affairs in one memory
std::string verify_state_versions(const GraphData& graph);

/// States that grow by one symbol grow by the same size, for the symbol is the length of them all.
std::string verify_state_growth(const GraphData& graph);

}  // namespace cairn::ir
