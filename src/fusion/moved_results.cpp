#include "fusion/moved_results.hpp"

#include "graph/ir/op_table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace cairn::fusion {
namespace {

using ir::NodeId;
using ir::Op;

// Maximum number of consecutive movements.
constexpr std::size_t max_moves = 8;

// Maximum number of column slices of one product that are written elsewhere: with the whole result as many as a body
// has results.
constexpr std::size_t max_parts = 7;

bool is_movement(const ir::Node& node) {
    return ir::is(node, ir::OpClass::movement) || ir::is(node, ir::OpClass::transfer);
}

/// True for a product with a matrix, with or without an epilogue.
bool is_product(const ir::GraphData& graph, const Match& match) {
    if (match.definition == "fused") return match.body.begins_with(Op::matmul);
    return match.definition == ir::info(Op::matmul).name && graph.node(match.inputs[1]).shape.size() == 2 &&
           graph.node(match.inputs[0]).shape.size() >= 2;
}

using Moves = std::vector<NodeId>;

/// A place where a result may be written: the node there, and the movements before it.
struct Destination {
    NodeId node = 0;
    Moves moves;
};

/// The values that movements carry to a node, each with the shortest list of movements.
std::map<NodeId, Moves> moved_values(const ir::GraphData& graph, const alternatives::EClasses& classes, NodeId to) {
    std::map<NodeId, Moves> found;
    std::vector<std::pair<NodeId, Moves>> open{{classes.value_of(*moved_into(graph.node(to))), {}}};
    for (std::size_t next = 0; next < open.size(); ++next) {
        const auto [value, moves] = open[next];
        if (!found.emplace(value, moves).second || moves.size() == max_moves) continue;
        for (const NodeId expression : classes.expressions(value)) {
            const ir::Node& node = graph.node(expression);
            if (!is_permutation(node.op)) continue;
            Moves longer{expression};
            longer.insert(longer.end(), moves.begin(), moves.end());
            open.emplace_back(classes.value_of(node.operands[0]), std::move(longer));
        }
    }
    return found;
}

/// True if the elements are in another order there; reshapes alone keep the order.
bool transposes(const ir::GraphData& graph, const Destination& to) {
    const auto is_transpose = [&](NodeId move) { return graph.node(move).op == Op::transpose; };
    return is_transpose(to.node) || std::any_of(to.moves.begin(), to.moves.end(), is_transpose);
}

/// By the value that may be written there.
using Destinations = std::map<NodeId, std::vector<Destination>>;

Destinations destinations_of(const ir::GraphData& graph, const alternatives::EClasses& classes) {
    Destinations destinations;
    std::set<std::pair<NodeId, NodeId>> known;  // the value written, and the value at the place
    const auto add = [&](NodeId node) {
        for (auto& [value, moves] : moved_values(graph, classes, node)) {
            Destination to{node, moves};
            const bool differs = graph.node(node).op == Op::state_append || transposes(graph, to);
            if (differs && known.emplace(value, classes.value_of(node)).second)
                destinations[value].push_back(std::move(to));
        }
    };
    for (NodeId id = 0; id < graph.nodes().size(); ++id)
        if (const Op op = graph.node(id).op; op == Op::state_append || op == Op::reshape) add(id);
    for (const ir::Output& output : graph.outputs())
        if (graph.node(output.node).op == Op::transpose) add(output.node);
    return destinations;
}

/// Adds an output to a match: a computed value, at the place it is moved to.
void add_moved(Match& match, NodeId computed, const Destination& to) {
    Nodes moved{computed};
    for (const NodeId move : to.moves) moved.push_back(move);
    for (const NodeId inside : moved)
        if (std::find(match.interior.begin(), match.interior.end(), inside) == match.interior.end())
            match.interior.push_back(inside);
    std::sort(match.interior.begin(), match.interior.end());
    match.outputs.push_back(to.node);
    match.moved.push_back(std::move(moved));
}

Match with_destination(const Match& match, const Destination& to) {
    Match written = match;
    written.outputs.clear();
    add_moved(written, match.outputs[0], to);
    return written;
}

/// Slices of columns, by the sliced value.
std::map<NodeId, Nodes> columns_in(const ir::GraphData& graph, const alternatives::EClasses& classes) {
    std::map<NodeId, Nodes> found;
    for (NodeId id = 0; id < graph.nodes().size(); ++id)
        if (const ir::Node& node = graph.node(id); is_column_slice(node))
            found[classes.value_of(node.operands[0])].push_back(id);
    return found;
}

/// True if the place requires no state version other than the state before the run.
bool reads_initial_state(const ir::GraphData& graph, const Destination& to) {
    const ir::Node& node = graph.node(to.node);
    return node.op != Op::state_append || ir::is_given(graph.node(node.operands[0]));
}

/// The first append of a value to a state before the run, other than those in `taken`; null if there is none.
const Destination* free_append(const ir::GraphData& graph, const Destinations& destinations, NodeId value,
                               const Nodes& taken) {
    const auto found = destinations.find(value);
    if (found == destinations.end()) return nullptr;
    for (const Destination& to : found->second)
        if (graph.node(to.node).op == Op::state_append && reads_initial_state(graph, to) &&
            std::find(taken.begin(), taken.end(), to.node) == taken.end())
            return &to;
    return nullptr;
}

/// The match of several outputs as one that appends those that are rows of appends to the state before the run, each
/// to the first such state that no other output is appended to.
std::optional<Match> with_appended_outputs(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                           const Match& match, const Destinations& destinations) {
    Match written = match;
    written.outputs.clear();
    for (const NodeId output : match.outputs) {
        if (const Destination* to = free_append(graph, destinations, classes.value_of(output), written.outputs)) {
            add_moved(written, output, *to);
        } else {
            written.outputs.push_back(output);
            written.moved.emplace_back();
        }
    }
    if (written.outputs == match.outputs) return std::nullopt;
    // A version that is read inside is provided now.
    Nodes inside;
    for (const NodeId id : written.interior)
        if (std::find(written.outputs.begin(), written.outputs.end(), id) == written.outputs.end())
            inside.push_back(id);
    written.interior = std::move(inside);
    return written;
}

/// The match as one that provides its whole result, and slices of it at the places they are moved to.
std::optional<Match> with_column_destinations(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                              const Match& match, const Nodes& slices,
                                              const Destinations& destinations) {
    Match written = match;
    const NodeId whole = match.outputs[0];
    if (match.definition == ir::info(Op::matmul).name) {
        written.definition = "fused";
        written.body = std::vector<Step>{{std::string(ir::info(Op::matmul).name), {0, 1}, graph.node(whole).dtype, 0}};
        written.results = {2};
    }
    written.moved = {Nodes{}};
    std::vector<Dim> first{0};
    for (const NodeId slice : slices) {
        const auto found = destinations.find(classes.value_of(slice));
        if (found == destinations.end()) continue;
        for (const Destination& to : found->second) {
            const bool is_known =
                std::find(written.outputs.begin(), written.outputs.end(), to.node) != written.outputs.end();
            if (is_known || !reads_initial_state(graph, to) || first.size() > max_parts) continue;
            add_moved(written, slice, to);
            first.push_back(graph.node(slice).attributes.dims("start").at(0));
            written.results.push_back(written.results[0]);
        }
    }
    if (first.size() == 1) return std::nullopt;
    written.attributes = {{"columns", std::move(first)}};
    return written;
}

}  // namespace

bool is_permutation(Op op) { return op == Op::transpose || op == Op::reshape; }

std::optional<NodeId> moved_into(const ir::Node& node) {
    if (node.op == Op::state_append) return node.operands[1];
    return is_permutation(node.op) ? std::optional(node.operands[0]) : std::nullopt;
}

bool is_column_slice(const ir::Node& node) {
    return node.op == Op::slice && node.attributes.integer("axis") == -1 &&
           node.attributes.dims("step").at(0) == Dim(1);
}

std::vector<Match> with_moved_results(const ir::GraphData& graph, const alternatives::EClasses& classes,
                                      const std::vector<Match>& matches) {
    std::vector<Match> written;
    const Destinations destinations = destinations_of(graph, classes);
    if (destinations.empty()) return written;
    const std::map<NodeId, Nodes> columns = columns_in(graph, classes);
    for (const Match& match : matches) {
        if (match.outputs.size() != 1) {
            if (auto appended = with_appended_outputs(graph, classes, match, destinations))
                written.push_back(*std::move(appended));
            continue;
        }
        const ir::Node& node = graph.node(match.outputs[0]);
        if (const auto slices = columns.find(classes.value_of(match.outputs[0]));
            slices != columns.end() && is_product(graph, match))
            if (auto in_parts = with_column_destinations(graph, classes, match, slices->second, destinations))
                written.push_back(*std::move(in_parts));
        const auto found = destinations.find(classes.value_of(match.outputs[0]));
        if (found == destinations.end() || ir::is_given(node) || ir::is(node, ir::OpClass::effect)) continue;
        if (match.interior.empty() && match.body.empty() && is_movement(node)) continue;
        for (const Destination& to : found->second) written.push_back(with_destination(match, to));
    }
    return written;
}

}  // namespace cairn::fusion
