#pragma once

#include "cairn/explanation.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cairn::cli {

/// An instruction that reads what another one wrote.
struct DataflowEdge {
    int from = 0, to = 0;  ///< numbers in ExplainedBucket::instructions
    int buffer = 0;
    friend bool operator==(const DataflowEdge&, const DataflowEdge&) = default;
};

/// Each pair once, by the first buffer; in the order of the readers.
std::vector<DataflowEdge> dataflow_edges(const ExplainedBucket& bucket);

/// What a problem's text begins with: `linear`.
std::string definition_of(std::string_view problem);

/// The inputs, weights and states that it reads, and the states and outputs that it writes, by name.
std::vector<std::string> names_read(const ExplainedBucket& bucket, const ExplainedInstruction& instruction);
std::vector<std::string> names_written(const ExplainedBucket& bucket, const ExplainedInstruction& instruction);

}  // namespace cairn::cli
