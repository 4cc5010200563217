#pragma once

#include "graph/ir/graph_data.hpp"
#include "selection/choose/select.hpp"

#include <vector>

/// The order of instructions.
namespace cairn::selection {

/// A read of a state's version that cannot come before the write that replaces it: the version must be copied right
/// before that write.
struct LateRead {
    int reader, operand;  ///< a choice, and which of its candidate's sources
    int writer;           ///< the choice that makes the first write over the version read
};

/// Choices by number: which ones each choice has to come after.
struct Dependences {
    std::vector<std::vector<int>> after;
    std::vector<LateRead> late_reads;
};

/// Data dependences, state versions in sequence, and readers before the write over what they read where that closes no
/// cycle. Throws Cancelled on a stop.
Dependences dependences_of(const ir::GraphData& graph, const std::vector<Choice>& chosen, const Candidates& candidates,
                           const std::stop_token& stop = {});

/// A topological order, lowest number first where there is a choice: close to the order the program was written in,
/// which keeps lives short. Throws InternalError on a cycle.
std::vector<int> schedule(const Dependences& dependences);

}  // namespace cairn::selection
