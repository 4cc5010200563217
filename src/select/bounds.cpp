#include "select/bounds.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace cairn::inline v0::select {
namespace {

using ir::NodeId;

void check_names(const ir::GraphData& graph, std::span<const OutputTolerance> own) {
    for (const OutputTolerance& one : own) {
        const auto is_it = [&](const auto& other) { return other.name == one.output; };
        if (std::none_of(graph.outputs().begin(), graph.outputs().end(), is_it))
            throw Error(ErrorKind::argument, "tolerance", fmt::format("there is no output called \"{}\"", one.output));
        if (std::count_if(own.begin(), own.end(), [&](const auto& other) { return other.output == one.output; }) > 1)
            throw Error(ErrorKind::argument, "tolerance", fmt::format("output \"{}\" has two", one.output));
    }
}

/// All that a node is made of, in any spelling. What was in a state is made of what runs leave there.
std::vector<bool> made_of(const ir::GraphData& graph, const expand::Classes& classes, NodeId node) {
    std::vector<bool> marked(graph.nodes().size(), false);
    std::vector<NodeId> open;
    const auto mark = [&](NodeId id) {
        for (const NodeId spelling : classes.spellings(classes.value_of(id)))
            if (!marked[spelling]) {
                marked[spelling] = true;
                open.push_back(spelling);
            }
    };
    mark(node);
    while (!open.empty()) {
        const NodeId next = open.back();
        open.pop_back();
        for (const NodeId operand : graph.node(next).operands) mark(operand);
        for (const ir::StateInfo& state : graph.states())
            if (state.read == next) mark(state.latest);
    }
    return marked;
}

}  // namespace

std::vector<Bound> bounds_of(const ir::GraphData& graph, const Tolerance& all, std::span<const OutputTolerance> own) {
    check_names(graph, own);
    std::vector<Bound> bounds;
    for (const ir::Output& output : graph.outputs()) {
        const auto it =
            std::find_if(own.begin(), own.end(), [&](const auto& one) { return one.output == output.name; });
        const Tolerance& tolerance = it == own.end() ? all : it->tolerance;
        bounds.push_back({fmt::format("output \"{}\"", output.name), output.node, tolerance.error()});
    }
    const expand::Classes single(graph);
    const Influence outputs(graph, single, bounds);
    std::vector<Bound> of_states;
    for (const ir::StateInfo& state : graph.states())
        if (state.latest != state.read && outputs.limit(state.latest) == std::numeric_limits<double>::infinity())
            of_states.push_back({fmt::format("state \"{}\"", state.name), state.latest, all.error()});
    bounds.insert(bounds.end(), of_states.begin(), of_states.end());
    return bounds;
}

Influence::Influence(const ir::GraphData& graph, const expand::Classes& classes, std::span<const Bound> bounds)
    : graph_(&graph), classes_(&classes), bounds_(bounds), shown_(bounds.size()) {}

const std::vector<bool>& Influence::shown(std::size_t bound) const {
    std::vector<bool>& known = shown_[bound];
    if (known.empty()) known = made_of(*graph_, *classes_, bounds_[bound].node);
    return known;
}

double Influence::limit(NodeId node) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t b = 0; b < bounds_.size(); ++b)
        if (shows(node, b)) least = std::min(least, bounds_[b].limit);
    return least;
}

}  // namespace cairn::inline v0::select
