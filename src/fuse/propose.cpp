#include "fuse/groups.hpp"
#include "fuse/match.hpp"
#include "fuse/pattern.hpp"
#include "fuse/tiles.hpp"
#include "ir/op_table.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace cairn::inline v0::fuse {
namespace {

using ir::NodeId;

Tile single(const ir::GraphData& graph, NodeId id) {
    const ir::Node& node = graph.node(id);
    Tile tile;
    tile.definition = ir::info(node.op).name;
    tile.attributes = node.attributes;
    tile.inputs = node.operands;
    tile.outputs = {id};
    return tile;
}

bool same_tile(const Tile& a, const Tile& b) {
    return a.definition == b.definition && a.inputs == b.inputs && a.outputs == b.outputs &&
           a.attributes == b.attributes && a.body == b.body;
}

// Tiles are large: their numbers are sorted, then each is moved once.
std::vector<Tile> by_last_output(std::vector<Tile> tiles) {
    std::vector<std::tuple<NodeId, std::size_t, std::size_t>> order;
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        const NodeId last = *std::max_element(tiles[t].outputs.begin(), tiles[t].outputs.end());
        const std::size_t size = tiles[t].interior.size() + tiles[t].outputs.size();
        order.emplace_back(last, std::numeric_limits<std::size_t>::max() - size, t);
    }
    std::sort(order.begin(), order.end());
    std::vector<Tile> sorted;
    sorted.reserve(tiles.size());
    for (const auto& [last, size, t] : order) sorted.push_back(std::move(tiles[t]));
    return sorted;
}

std::vector<std::vector<Tile>> matches_of(const ir::GraphData& graph, std::span<const Pattern> patterns,
                                          const std::stop_token& stop) {
    std::vector<std::vector<Tile>> matches(graph.nodes().size());
    if (patterns.empty()) return matches;
    Matcher matcher(graph, patterns, stop);
    for (NodeId id = 0; id < matches.size(); ++id) {
        if (stop.stop_requested()) throw Cancelled("fuse");
        matcher.match_at(id, matches[id]);
    }
    return matches;
}

// A shorter form of a definition that only serves a longer one: the normal row of a layer norm before gamma and beta.
void drop_parts(const ir::GraphData& graph, std::vector<std::vector<Tile>>& matches) {
    if (std::all_of(matches.begin(), matches.end(), [](const auto& found) { return found.empty(); })) return;
    const auto in = [](const Nodes& list, NodeId id) { return std::find(list.begin(), list.end(), id) != list.end(); };
    std::vector<std::vector<NodeId>> users(graph.nodes().size());
    for (NodeId id = 0; id < graph.nodes().size(); ++id)
        for (const NodeId operand : graph.node(id).operands) users[operand].push_back(id);
    for (const ir::Output& output : graph.outputs()) users[output.node].push_back(output.node);
    const auto serves = [&](NodeId id, const Tile& tile) {
        return in(tile.interior, id) && std::all_of(users[id].begin(), users[id].end(), [&](NodeId user) {
                   return user != id && (in(tile.interior, user) || in(tile.outputs, user));
               });
    };
    for (std::size_t root = 0; root < matches.size(); ++root)
        for (std::size_t i = 0; i < matches[root].size(); ++i) {
            const Tile tile = matches[root][i];
            for (const NodeId id : tile.interior)
                if (!matches[id].empty() && serves(id, tile))
                    std::erase_if(matches[id], [&](const Tile& part) { return part.definition == tile.definition; });
        }
}

}  // namespace

std::size_t axes_in(const ir::GraphData& graph) {
    std::size_t axes = 4;  // patterns for so many serve most graphs
    for (const ir::Node& node : graph.nodes()) axes = std::max(axes, node.shape.size());
    return axes;
}

Patterns patterns_of(std::span<const Definition> definitions, std::size_t axes, const std::stop_token& stop) {
    return std::make_shared<const std::vector<Pattern>>(make_patterns(definitions, stop, axes));
}

std::vector<Tile> propose(const ir::GraphData& graph, std::span<const Definition> definitions, const Options& options) {
    if (!options.composites) definitions = {};
    return propose(graph, patterns_of(definitions, axes_in(graph), options.stop), options);
}

std::vector<Tile> propose(const ir::GraphData& graph, const Patterns& patterns, const Options& options) {
    const std::size_t count = graph.nodes().size();
    std::vector<std::vector<Tile>> matches = matches_of(
        graph, options.composites && patterns ? std::span<const Pattern>(*patterns) : std::span<const Pattern>(),
        options.stop);
    drop_parts(graph, matches);
    std::vector<bool> read_by_match(count, false);
    for (const std::vector<Tile>& found : matches)
        for (const Tile& tile : found)
            for (const NodeId input : tile.inputs) read_by_match[input] = true;
    std::vector<std::vector<Tile>> groups(count);
    if (options.elementwise) groups = Groups(graph, options.stop).all(read_by_match);
    std::vector<Tile> tiles;
    for (NodeId id = 0; id < count; ++id) {
        if (options.stop.stop_requested()) throw Cancelled("fuse");
        if (ir::is_given(graph.node(id))) continue;
        std::vector<Tile> here = std::move(matches[id]);
        std::move(groups[id].begin(), groups[id].end(), std::back_inserter(here));
        here.push_back(single(graph, id));
        for (Tile& tile : here)
            if (std::none_of(tiles.rbegin(),
                             tiles.rbegin() + static_cast<std::ptrdiff_t>(std::min(tiles.size(), here.size())),
                             [&](const Tile& other) { return same_tile(other, tile); }))
                tiles.push_back(std::move(tile));
    }
    return by_last_output(std::move(tiles));
}

}  // namespace cairn::inline v0::fuse
