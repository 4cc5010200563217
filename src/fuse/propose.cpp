#include "fuse/body_parts.hpp"
#include "fuse/groups.hpp"
#include "fuse/images.hpp"
#include "fuse/match_all.hpp"
#include "fuse/moved_results.hpp"
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

Tile single(const ir::GraphData& graph, const Classes& classes, NodeId id) {
    const ir::Node& node = graph.node(id);
    Tile tile;
    tile.definition = ir::info(node.op).name;
    tile.attributes = node.attributes;
    for (const NodeId operand : node.operands) tile.inputs.push_back(classes.value_of(operand));
    tile.outputs = {id};
    return tile;
}

bool same_tile(const Classes& classes, const Tile& a, const Tile& b) {
    const auto same_value = [&](NodeId x, NodeId y) { return classes.value_of(x) == classes.value_of(y); };
    return a.definition == b.definition && a.inputs == b.inputs && a.attributes == b.attributes && a.body == b.body &&
           std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(), same_value);
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

// A shorter form of a definition that only serves a longer one: the normal row of a layer norm before gamma and beta.
// One of another dtype stays: the f32 between the casts of a 16-bit form may have a kernel where that form has none.
void drop_parts(const ir::GraphData& graph, const Classes& classes, std::vector<std::vector<Tile>>& matches) {
    if (std::all_of(matches.begin(), matches.end(), [](const auto& found) { return found.empty(); })) return;
    const auto in = [](const Nodes& list, NodeId id) { return std::find(list.begin(), list.end(), id) != list.end(); };
    std::vector<std::vector<NodeId>> users(graph.nodes().size());
    for (NodeId id = 0; id < graph.nodes().size(); ++id)
        for (const NodeId operand : graph.node(id).operands) users[classes.value_of(operand)].push_back(id);
    for (const ir::Output& output : graph.outputs()) users[output.node].push_back(output.node);
    const auto users_of = [&](NodeId id) -> const std::vector<NodeId>& { return users[classes.value_of(id)]; };
    const auto serves = [&](NodeId id, const Tile& tile) {
        return in(tile.interior, id) && std::all_of(users_of(id).begin(), users_of(id).end(), [&](NodeId user) {
                   return user != id && (in(tile.interior, user) || in(tile.outputs, user));
               });
    };
    for (std::size_t root = 0; root < matches.size(); ++root)
        for (std::size_t i = 0; i < matches[root].size(); ++i) {
            const Tile& tile = matches[root][i];
            for (const NodeId id : tile.interior)
                if (!matches[id].empty() && graph.node(id).dtype == graph.node(tile.outputs.back()).dtype &&
                    serves(id, tile))
                    std::erase_if(matches[id], [&](const Tile& part) { return part.definition == tile.definition; });
        }
}

/// The matches of each node, and what of them bodies may hold.
struct Matches {
    explicit Matches(std::size_t nodes) : tiles(nodes), is_read(nodes, false) {}

    std::vector<std::vector<Tile>> tiles;  ///< but for products
    std::vector<bool> is_read;             ///< by any
    BodyParts parts;
};

Matches matches_of(const ir::GraphData& graph, const Classes& classes, std::span<const Pattern> patterns,
                   const std::stop_token& stop) {
    Matches matches(graph.nodes().size());
    if (patterns.empty()) return matches;
    Matcher matcher(graph, classes, patterns, stop);
    matches.tiles = match_all(matcher, stop);
    drop_parts(graph, classes, matches.tiles);
    for (const std::vector<Tile>& found : matches.tiles)
        for (const Tile& tile : found)
            for (const NodeId input : tile.inputs) matches.is_read[input] = true;
    matches.parts = BodyParts(graph, matcher.forms(), classes, patterns, matches.tiles, stop);
    return matches;
}

}  // namespace

std::size_t axes_in(const ir::GraphData& graph) {
    std::size_t axes = 4;  // patterns for so many serve most graphs
    for (const ir::Node& node : graph.nodes()) axes = std::max(axes, node.shape.size());
    return axes;
}

Sought::Sought(const ir::GraphData& graph)
    : axes(axes_in(graph)),
      rounds(std::any_of(graph.nodes().begin(), graph.nodes().end(),
                         [&](const ir::Node& node) {
                             return node.op == ir::Op::cast && is_widening(node.dtype, DType::f32) &&
                                    is_widening(node.dtype, graph.node(node.operands[0]).dtype);
                         })),
      multiplies_integers(std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const ir::Node& node) {
          return node.op == ir::Op::matmul && !is_float(node.dtype);
      })) {}

Patterns patterns_of(std::span<const Definition> definitions, const Sought& sought, const std::stop_token& stop) {
    PatternSet set{make_patterns(definitions, stop, sought), {}};
    for (const Definition& definition : definitions)
        if (!definition.of_windows.empty()) set.of_windows.push_back(&definition);
    return std::make_shared<const PatternSet>(std::move(set));
}

std::vector<Tile> propose(const ir::GraphData& graph, std::span<const Definition> definitions, const Options& options) {
    if (!options.composites) definitions = {};
    return propose(graph, patterns_of(definitions, Sought(graph), options.stop), options);
}

std::vector<Tile> propose(const ir::GraphData& graph, const Patterns& patterns, const Options& options) {
    return propose(graph, Classes(graph), patterns, options);
}

std::vector<Tile> propose(const ir::GraphData& graph, const Classes& classes, const Patterns& patterns,
                          const Options& options) {
    const std::size_t count = graph.nodes().size();
    const bool matches_definitions = options.composites && patterns;
    Matches matches = matches_of(
        graph, classes, matches_definitions ? std::span(patterns->patterns) : std::span<const Pattern>(), options.stop);
    std::vector<std::vector<Tile>> groups(count);
    if (options.elementwise) groups = Groups(graph, classes, matches.parts, options.stop).all(matches.is_read);
    std::vector<Tile> tiles;
    for (NodeId value = 0; value < count; ++value) {
        if (options.stop.stop_requested()) throw Cancelled("fuse");
        if (classes.value_of(value) != value || ir::is_given(graph.node(value))) continue;
        const std::size_t first = tiles.size();
        const auto add = [&](Tile tile) {
            const auto is_known = [&](const Tile& other) { return same_tile(classes, other, tile); };
            if (std::none_of(tiles.begin() + static_cast<std::ptrdiff_t>(first), tiles.end(), is_known))
                tiles.push_back(std::move(tile));
        };
        for (const NodeId id : classes.spellings(value)) {
            for (Tile& tile : matches.tiles[id]) add(std::move(tile));
            for (Tile& tile : groups[id]) add(std::move(tile));
            add(single(graph, classes, id));
        }
    }
    if (matches_definitions)
        for (Tile& of_image : with_images(graph, classes, patterns->of_windows, tiles))
            tiles.push_back(std::move(of_image));
    if (options.moved_results)
        for (Tile& moved : with_moved_results(graph, classes, tiles)) tiles.push_back(std::move(moved));
    return by_last_output(std::move(tiles));
}

}  // namespace cairn::inline v0::fuse
