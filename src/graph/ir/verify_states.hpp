#pragma once

#include "graph/ir/graph_data.hpp"

#include <string>

/// Checks on the versions of states that let all of them share one memory. Each describes the first fault; empty if
/// there is none.
namespace cairn::ir {

/// True if the node's value is in a state's memory, as a version of it and not as a view.
bool is_state_version(const Node& node) noexcept;

/// Among live nodes, each version is changed at most once, and the version that a run commits is not changed: the
/// versions of a state form a chain.
///
///     %3 = state_append %2, %0     %4 = state_append %2, %1     // invalid: two contents in one memory
std::string verify_state_versions(const GraphData& graph);

/// States that grow by one symbol must grow by the same size, since the symbol is the length of all of them.
std::string verify_state_growth(const GraphData& graph);

}  // namespace cairn::ir
