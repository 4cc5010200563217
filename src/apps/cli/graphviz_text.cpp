#include "apps/cli/graphviz_text.hpp"

#include "apps/cli/bucket_output.hpp"
#include "apps/cli/dataflow.hpp"
#include "apps/cli/problem_ops.hpp"

#include <fmt/format.h>

#include <set>

namespace cairn::cli {
namespace {

std::string quoted_word(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

/// Nodes for inputs, states, weights and outputs, and edges between them and the instructions.
std::string ports_dot(const ExplainedBucket& bucket, std::size_t number) {
    std::string text;
    std::set<std::string> printed;
    const auto port = [&](int buffer, std::size_t instruction, bool is_read) {
        const auto& [kind, name, bytes] = bucket.buffers[static_cast<std::size_t>(buffer)];
        if (name.empty()) return;
        const std::string node = quoted_word(fmt::format("b{} {} {}", number, kind, name));
        if (printed.insert(node).second)
            text += fmt::format("    {} [label={}, shape={}];\n", node, quoted_word(name),
                                kind == "weight" ? "plain" : "oval");
        const std::string call = fmt::format("b{}i{}", number, instruction);
        text += is_read ? fmt::format("    {} -> {};\n", node, call) : fmt::format("    {} -> {};\n", call, node);
    };
    for (std::size_t i = 0; i < bucket.instructions.size(); ++i) {
        for (const int buffer : bucket.instructions[i].reads) port(buffer, i, true);
        for (const int buffer : bucket.instructions[i].writes) port(buffer, i, false);
    }
    return text;
}

}  // namespace

std::string graphviz_text(std::string_view name, const Explanation& why, const Context& context) {
    std::string text =
        fmt::format("digraph {} {{\n  node [fontname=\"sans-serif\", fontsize=10];\n", quoted_word(name));
    for (std::size_t b = 0; b < why.buckets.size(); ++b) {
        const ExplainedBucket& bucket = why.buckets[b];
        text += fmt::format("  subgraph cluster_{} {{\n    label={};\n", b, quoted_word(bucket_text(bucket)));
        for (std::size_t i = 0; i < bucket.instructions.size(); ++i) {
            const ExplainedInstruction& each = bucket.instructions[i];
            const std::string definition = definition_of(each.chosen.problem),
                              group = problem_ops(each.chosen.problem, context),
                              label = fmt::format("{}{}\\n{}\\n{}", definition,
                                                  group.empty() || group == definition ? "" : "\\n" + group,
                                                  each.chosen.kernel, time_text(each.chosen.seconds));
            text += fmt::format("    b{}i{} [label=\"{}\", shape=box{}];\n", b, i, label,
                                each.at_bind ? ", style=dashed" : "");
        }
        for (const DataflowEdge& edge : dataflow_edges(bucket))
            if (bucket.buffers[static_cast<std::size_t>(edge.buffer)].name.empty())
                text += fmt::format("    b{}i{} -> b{}i{};\n", b, edge.from, b, edge.to);
        text += ports_dot(bucket, b) + "  }\n";
    }
    return text + "}\n";
}

}  // namespace cairn::cli
