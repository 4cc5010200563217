#include "apps/cli/dataflow.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace cairn::cli {
namespace {

std::vector<std::string> names_in(const ExplainedBucket& bucket, const std::vector<int>& buffers) {
    std::vector<std::string> names;
    for (const int buffer : buffers) {
        const std::string& name = bucket.buffers[static_cast<std::size_t>(buffer)].name;
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

}  // namespace

std::vector<DataflowEdge> dataflow_edges(const ExplainedBucket& bucket) {
    std::vector<DataflowEdge> edges;
    std::map<int, int> writer;  // last writer of each buffer
    for (std::size_t i = 0; i < bucket.instructions.size(); ++i) {
        const auto number = static_cast<int>(i);
        std::set<int> from;
        for (const int buffer : bucket.instructions[i].reads)
            if (const auto found = writer.find(buffer); found != writer.end() && from.insert(found->second).second)
                edges.push_back({found->second, number, buffer});
        for (const int buffer : bucket.instructions[i].writes) writer[buffer] = number;
    }
    return edges;
}

std::string definition_of(std::string_view problem) { return std::string(problem.substr(0, problem.find(' '))); }

std::vector<std::string> names_read(const ExplainedBucket& bucket, const ExplainedInstruction& instruction) {
    return names_in(bucket, instruction.reads);
}

std::vector<std::string> names_written(const ExplainedBucket& bucket, const ExplainedInstruction& instruction) {
    return names_in(bucket, instruction.writes);
}

}  // namespace cairn::cli
