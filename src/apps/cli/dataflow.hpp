#pragma once

#include "cairn/explanation.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cairn::cli {

/// A dependence: instruction `to` reads a buffer that instruction `from` has written.
struct DataflowEdge {
    int from = 0, to = 0;  ///< indices in ExplainedBucket::instructions
    int buffer = 0;
    friend bool operator==(const DataflowEdge&, const DataflowEdge&) = default;
};

/// All edges, ordered by reader; each pair of instructions once, with the first buffer.
std::vector<DataflowEdge> dataflow_edges(const ExplainedBucket& bucket);

/// The definition of a problem in text form: `linear`.
std::string definition_of(std::string_view problem);

/// Names of the inputs, weights and states that the instruction reads, and of the states and outputs that it writes.
std::vector<std::string> names_read(const ExplainedBucket& bucket, const ExplainedInstruction& instruction);
std::vector<std::string> names_written(const ExplainedBucket& bucket, const ExplainedInstruction& instruction);

}  // namespace cairn::cli
