#pragma once

#include "ir/graph_data.hpp"
#include "select/select.hpp"

#include <vector>

/// The order of instructions.
namespace cairn::inline v0::select {

/// Choices by number: which ones each choice has to come after.
struct Dependences {
    std::vector<std::vector<int>> after;
    /// Reads of a state's old contents that cannot come before the write that replaces them, as (reader, writer): the
    /// old contents must be copied.
    std::vector<std::pair<int, int>> late_reads;
};

/// Data dependences, state versions in sequence, and readers before overwriting writes where that closes no cycle.
Dependences dependences_of(const ir::GraphData& graph, const std::vector<Choice>& chosen, const Candidates& candidates);

/// A topological order, lowest number first where there is a choice: close to the order the program was written in,
/// which keeps lives short. Throws InternalError on a cycle.
std::vector<int> schedule(const Dependences& dependences);

}  // namespace cairn::inline v0::select
