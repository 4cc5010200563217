#include "fuse/moved_results.hpp"

#include "ir/op_table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace cairn::inline v0::fuse {
namespace {

using ir::NodeId;
using ir::Op;

// Movements behind each other at most.
constexpr std::size_t most_moves = 8;

bool only_moves(const ir::Node& node) {
    return ir::is(node, ir::OpClass::movement) || ir::is(node, ir::OpClass::transfer);
}

using Moves = std::vector<NodeId>;

/// Where a result may be written: the node that is there, and the movements before it.
struct Destination {
    NodeId node = 0;
    Moves moves;
};

/// The values that movements carry to a node, each with the fewest that do it.
std::map<NodeId, Moves> carried_to(const ir::GraphData& graph, const expand::Classes& classes, NodeId to) {
    std::map<NodeId, Moves> found;
    std::vector<std::pair<NodeId, Moves>> open{{classes.value_of(*moved_into(graph.node(to))), {}}};
    for (std::size_t next = 0; next < open.size(); ++next) {
        const auto [value, moves] = open[next];
        if (!found.emplace(value, moves).second || moves.size() == most_moves) continue;
        for (const NodeId spelling : classes.spellings(value)) {
            const ir::Node& node = graph.node(spelling);
            if (!keeps_all(node.op)) continue;
            Moves longer{spelling};
            longer.insert(longer.end(), moves.begin(), moves.end());
            open.emplace_back(classes.value_of(node.operands[0]), std::move(longer));
        }
    }
    return found;
}

/// Whether elements lie in another order there: reshapes alone leave them where they are.
bool turns(const ir::GraphData& graph, const Destination& to) {
    const auto is_turn = [&](NodeId move) { return graph.node(move).op == Op::transpose; };
    return is_turn(to.node) || std::any_of(to.moves.begin(), to.moves.end(), is_turn);
}

/// All destinations, by the value that may be written there.
std::map<NodeId, std::vector<Destination>> destinations_of(const ir::GraphData& graph, const expand::Classes& classes) {
    std::map<NodeId, std::vector<Destination>> destinations;
    std::set<std::pair<NodeId, NodeId>> known;  // what is written, and what is there then
    const auto add = [&](NodeId node) {
        for (auto& [value, moves] : carried_to(graph, classes, node)) {
            Destination to{node, moves};
            const bool differs = graph.node(node).op == Op::state_append || turns(graph, to);
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

Tile written_to(const Tile& tile, const Destination& to) {
    Tile written = tile;
    written.outputs = {to.node};
    written.moved = tile.outputs;
    for (const NodeId move : to.moves) written.moved.push_back(move);
    for (const NodeId inside : written.moved) written.interior.push_back(inside);
    std::sort(written.interior.begin(), written.interior.end());
    return written;
}

}  // namespace

bool keeps_all(Op op) { return op == Op::transpose || op == Op::reshape; }

std::optional<NodeId> moved_into(const ir::Node& node) {
    if (node.op == Op::state_append) return node.operands[1];
    return keeps_all(node.op) ? std::optional(node.operands[0]) : std::nullopt;
}

std::vector<Tile> with_moved_results(const ir::GraphData& graph, const expand::Classes& classes,
                                     const std::vector<Tile>& tiles) {
    std::vector<Tile> written;
    const std::map<NodeId, std::vector<Destination>> destinations = destinations_of(graph, classes);
    if (destinations.empty()) return written;
    for (const Tile& tile : tiles) {
        if (tile.outputs.size() != 1) continue;
        const ir::Node& node = graph.node(tile.outputs[0]);
        const auto found = destinations.find(classes.value_of(tile.outputs[0]));
        if (found == destinations.end() || ir::is_given(node) || ir::is(node, ir::OpClass::effect)) continue;
        if (tile.interior.empty() && tile.body.empty() && only_moves(node)) continue;
        for (const Destination& to : found->second) written.push_back(written_to(tile, to));
    }
    return written;
}

}  // namespace cairn::inline v0::fuse
