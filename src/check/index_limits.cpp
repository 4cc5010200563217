#include "check/index_limits.hpp"

#include "ir/build.hpp"

#include <algorithm>
#include <string>

namespace cairn::inline v0::check {
namespace {

using ir::Op;

/// The operands whose elements the elements of a node are, unchanged: of what only moves or selects them.
std::span<const ir::NodeId> moved_operands(const ir::Node& node) {
    const std::span<const ir::NodeId> all(node.operands.begin(), node.operands.end());
    switch (node.op) {
        case Op::reshape:
        case Op::transpose:
        case Op::broadcast:
        case Op::slice:
        case Op::window:
        case Op::cast:
        case Op::copy_to: return all.first(1);
        case Op::concat: return all;
        case Op::where: return all.subspan(1);
        default: return {};
    }
}

class Limits {
public:
    Limits(const ir::GraphData& graph, std::size_t inputs) : graph_(graph), limits_(inputs) {
        for (const ir::Node& node : graph.nodes()) {
            if (node.op != Op::gather && node.op != Op::scatter && node.op != Op::take_along_axis) continue;
            const Shape& indexed = graph.node(node.operands[0]).shape;
            const auto axis = static_cast<std::size_t>(static_cast<std::int64_t>(indexed.size()) +
                                                       node.attributes.integer("axis"));
            limit(node.operands[1], indexed[axis].constant());
        }
    }
    std::vector<std::optional<std::int64_t>> take() { return std::move(limits_); }

private:
    void limit(ir::NodeId id, std::int64_t count) {
        const ir::Node& node = graph_.node(id);
        if (node.op == Op::input) {
            const auto input = static_cast<std::size_t>(std::stoul(node.name.substr(2)));  // "in0", "in1", ...
            limits_.at(input) = std::min(limits_.at(input).value_or(count), count);
        }
        for (const ir::NodeId operand : moved_operands(node)) limit(operand, count);
    }

    const ir::GraphData& graph_;
    std::vector<std::optional<std::int64_t>> limits_;
};

}  // namespace

std::vector<std::optional<std::int64_t>> index_limits(const Problem& problem, std::span<const Definition> definitions) {
    const Graph graph = ir::graph_of(problem, definitions);
    return Limits(*graph.data(), problem.inputs.size()).take();
}

}  // namespace cairn::inline v0::check
