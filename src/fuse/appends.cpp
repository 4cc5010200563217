#include "fuse/appends.hpp"

#include "ir/op_table.hpp"

#include <algorithm>
#include <map>
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

/// The values that become the rows of an append by movements, each with the fewest that do it.
std::map<NodeId, Moves> rows_of(const ir::GraphData& graph, const expand::Classes& classes, NodeId append) {
    std::map<NodeId, Moves> found;
    std::vector<std::pair<NodeId, Moves>> open{{classes.value_of(graph.node(append).operands[1]), {}}};
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

Tile ending_in(const Tile& tile, NodeId append, const Moves& moves) {
    Tile ending = tile;
    ending.outputs = {append};
    ending.appended = tile.outputs;
    for (const NodeId move : moves) ending.appended.push_back(move);
    for (const NodeId inside : ending.appended) ending.interior.push_back(inside);
    std::sort(ending.interior.begin(), ending.interior.end());
    return ending;
}

}  // namespace

bool keeps_all(Op op) { return op == Op::transpose || op == Op::reshape; }

std::vector<Tile> ending_in_appends(const ir::GraphData& graph, const expand::Classes& classes,
                                    const std::vector<Tile>& tiles) {
    std::map<NodeId, std::vector<std::pair<NodeId, Moves>>> appends;  // by the value that is appended
    for (NodeId id = 0; id < graph.nodes().size(); ++id) {
        if (graph.node(id).op != Op::state_append) continue;
        for (const auto& [value, moves] : rows_of(graph, classes, id)) appends[value].emplace_back(id, moves);
    }
    std::vector<Tile> endings;
    if (appends.empty()) return endings;
    for (const Tile& tile : tiles) {
        if (tile.outputs.size() != 1) continue;
        const ir::Node& node = graph.node(tile.outputs[0]);
        const auto found = appends.find(classes.value_of(tile.outputs[0]));
        if (found == appends.end() || ir::is_given(node) || ir::is(node, ir::OpClass::effect)) continue;
        if (tile.interior.empty() && tile.body.empty() && only_moves(node)) continue;
        for (const auto& [append, moves] : found->second) endings.push_back(ending_in(tile, append, moves));
    }
    return endings;
}

}  // namespace cairn::inline v0::fuse
