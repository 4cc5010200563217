#include "graph/ir/index_limits.hpp"

#include "graph/ir/op_table.hpp"
#include "graph/ir/problem_graph.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace cairn::ir {
namespace {

/// The operands whose elements a node passes on unchanged: those that it moves, selects or joins.
std::vector<NodeId> sources_of(const Node& node) {
    const OpClass kind = info(node.op).kind;
    if (node.op == Op::concat) return {node.operands.begin(), node.operands.end()};
    if (node.op == Op::where) return {node.operands[1], node.operands[2]};
    if (node.op == Op::scatter) return {node.operands[0], node.operands[2]};
    if (node.op == Op::bitcast) return {};
    const bool moves = kind == OpClass::movement || kind == OpClass::indexing || kind == OpClass::transfer;
    return moves || node.op == Op::cast ? std::vector<NodeId>{node.operands[0]} : std::vector<NodeId>();
}

class Limits {
public:
    Limits(const GraphData& graph, std::size_t inputs)
        : graph_(graph), seen_(graph.nodes().size(), std::numeric_limits<std::int64_t>::max()), limits_(inputs) {
        for (const Node& node : graph.nodes()) {
            if (node.op != Op::gather && node.op != Op::scatter && node.op != Op::take_along_axis) continue;
            const Shape& indexed = graph.node(node.operands[0]).shape;
            const auto axis =
                static_cast<std::size_t>(static_cast<std::int64_t>(indexed.size()) + node.attributes.integer("axis"));
            limit(node.operands[1], indexed[axis].constant());
        }
    }
    std::vector<std::optional<std::int64_t>> take() { return std::move(limits_); }

private:
    void limit(NodeId id, std::int64_t count) {
        if (seen_[id] <= count) return;
        seen_[id] = count;
        const Node& node = graph_.node(id);
        if (node.op == Op::input) {
            const auto input = static_cast<std::size_t>(std::stoul(node.name.substr(2)));  // "in0", "in1", ...
            limits_.at(input) = std::min(limits_.at(input).value_or(count), count);
        }
        for (const NodeId source : sources_of(node)) limit(source, count);
    }

    const GraphData& graph_;
    std::vector<std::int64_t> seen_;  // the least limit of each node so far
    std::vector<std::optional<std::int64_t>> limits_;
};

}  // namespace

std::vector<std::optional<std::int64_t>> index_limits(const Problem& problem, std::span<const Definition> definitions) {
    const Graph graph = problem_graph(problem, definitions);
    return Limits(*graph.data(), problem.inputs.size()).take();
}

}  // namespace cairn::ir
