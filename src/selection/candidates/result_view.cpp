#include "selection/candidates/result_view.hpp"

#include "graph/ir/op_table.hpp"

#include <algorithm>
#include <utility>

namespace cairn::selection {
namespace {

using ir::Node;
using ir::NodeId;
using ir::Op;
using Strides = std::vector<Dim>;

std::size_t from_front(const Dim& axis, std::size_t rank) {
    return static_cast<std::size_t>(static_cast<std::int64_t>(rank) + axis.constant());
}

/// The strides of the movement's operand if its result has `strides`.
std::optional<Strides> strides_before(const ir::GraphData& graph, const Node& move, const Strides& strides) {
    const Shape& moved = graph.node(move.operands[0]).shape;
    if (move.op == Op::reshape) return reshape_strides(move.shape, strides, moved);
    const std::vector<Dim>& permutation = move.attributes.dims("permutation");
    Strides result(moved.size(), Dim(0));
    for (std::size_t i = 0; i < permutation.size(); ++i) result[from_front(permutation[i], moved.size())] = strides[i];
    return result;
}

std::optional<Strides> strides_after(const ir::GraphData& graph, const Node& move, const Strides& strides) {
    if (move.op == Op::reshape) return reshape_strides(graph.node(move.operands[0]).shape, strides, move.shape);
    Strides result;
    for (const Dim& axis : move.attributes.dims("permutation"))
        result.push_back(strides[from_front(axis, strides.size())]);
    return result;
}

}  // namespace

std::optional<ResultView> result_view(const ir::GraphData& graph, const fusion::Match& match, std::size_t output,
                                      const std::vector<ValueView>& views, bool by_element) {
    std::optional<ResultView> found;
    const Node& output_node = graph.node(match.outputs[output]);
    const fusion::Nodes& moved = match.moved[output];
    std::optional<Strides> strides = views[match.outputs[output]].strides;
    if (!ir::is(output_node, ir::OpClass::effect))
        strides = strides_before(graph, output_node, dense_strides(output_node.shape));
    for (std::size_t moves = moved.size(); strides && moves-- > 0;) {
        const Node& node = graph.node(moved[moves]);
        if (by_element || moves == 0) found = {node.shape, *strides, moves};
        if (moves > 0) strides = strides_before(graph, node, *strides);
    }
    return found;
}

std::optional<ResultView> columns_view(const ir::GraphData& graph, const fusion::Match& match, std::size_t output,
                                       const std::vector<ValueView>& views) {
    std::optional<ResultView> view = result_view(graph, match, output, views, true);
    if (!view) return std::nullopt;
    const fusion::Nodes& moved = match.moved[output];
    for (std::size_t i = 1; i <= view->moves; ++i)
        if (graph.node(moved[i]).op != Op::reshape) return std::nullopt;
    // Axes of size 1 may be at any position.
    const auto is_one = [](const Dim& size) { return size == Dim(1); };
    Shape target = graph.node(moved[0]).shape, behind = view->shape;
    target.pop_back();
    std::erase_if(behind, is_one);
    for (const Dim& size : target) {
        if (is_one(size)) continue;
        if (behind.empty() || !(behind.front() == size)) return std::nullopt;
        behind.erase(behind.begin());
    }
    if (behind.empty()) behind.push_back(Dim(1));
    target.insert(target.end(), behind.begin(), behind.end());
    std::optional<Strides> strides = reshape_strides(view->shape, view->strides, target);
    if (!strides) return std::nullopt;
    return ResultView{std::move(target), *std::move(strides), view->moves};
}

std::optional<Strides> strides_through(const ir::GraphData& graph, const fusion::Nodes& moved, std::size_t moves,
                                       Strides strides) {
    std::optional<Strides> seen = std::move(strides);
    for (std::size_t i = 1; seen && i <= moves; ++i) seen = strides_after(graph, graph.node(moved[i]), *seen);
    return seen;
}

bool may_read_overwritten_state(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                const std::vector<ValueView>& views, const fusion::Match& match) {
    const auto is_written_over = [&](NodeId version) {
        const ir::StateInfo& state = state_of(graph, version);
        for (NodeId at = state.latest; at != state.read; at = graph.node(at).operands[0])
            if (graph.node(at).op == Op::state_write) return true;
        return false;
    };
    return std::any_of(match.inputs.begin(), match.inputs.end(), [&](NodeId input) {
        const auto expressions = classes.expressions(classes.value_of(input));
        return std::any_of(expressions.begin(), expressions.end(), [&](NodeId expression) {
            const NodeId base = views[expression].base;
            return is_state_version(graph.node(base)) && is_written_over(base);
        });
    });
}

}  // namespace cairn::selection
