#pragma once

#include "graph/ir/graph_data.hpp"
#include "selection/choose/select.hpp"

#include <vector>

/// Instruction scheduling: dependences and a topological order.
namespace cairn::selection {

/// A read of a state's version that cannot come before the write that replaces it: the version must be copied right
/// before that write.
struct LateRead {
    int reader, operand;  ///< a choice, and the index of its candidate's operand
    int writer;           ///< the choice with the first write over the version read
};

/// For each choice, the choices that it has to come after.
struct Dependences {
    std::vector<std::vector<int>> after;
    std::vector<LateRead> late_reads;
};

/// Data dependences, state versions in sequence, and readers before the write that overwrites their operands if that
/// closes no cycle. Throws Cancelled on a stop.
Dependences dependences_of(const ir::GraphData& graph, const std::vector<Choice>& chosen, const Candidates& candidates,
                           const std::stop_token& stop = {});

/// A topological order, lowest number first among ready choices: close to the source order of the program, which keeps
/// live ranges short. Throws InternalError on a cycle.
std::vector<int> schedule(const Dependences& dependences);

}  // namespace cairn::selection
