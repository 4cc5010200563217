#include "fusion/fusible_matches.hpp"
#include "fusion/fusion_groups.hpp"
#include "fusion/image_matches.hpp"
#include "fusion/match.hpp"
#include "fusion/match_all.hpp"
#include "fusion/moved_results.hpp"
#include "fusion/pattern.hpp"
#include "graph/ir/op_table.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace cairn::fusion {
namespace {

using ir::NodeId;

Match single(const ir::GraphData& graph, const EClasses& classes, NodeId id) {
    const ir::Node& node = graph.node(id);
    Match match;
    match.definition = ir::info(node.op).name;
    match.attributes = node.attributes;
    for (const NodeId operand : node.operands) match.inputs.push_back(classes.value_of(operand));
    match.outputs = {id};
    return match;
}

bool same_match(const EClasses& classes, const Match& a, const Match& b) {
    const auto same_value = [&](NodeId x, NodeId y) { return classes.value_of(x) == classes.value_of(y); };
    return a.definition == b.definition && a.inputs == b.inputs && a.attributes == b.attributes && a.body == b.body &&
           std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(), same_value);
}

// Matches are large: indices are sorted, then each match is moved once.
std::vector<Match> by_last_output(std::vector<Match> matches) {
    std::vector<std::tuple<NodeId, std::size_t, std::size_t>> order;
    for (std::size_t t = 0; t < matches.size(); ++t) {
        const NodeId last = *std::max_element(matches[t].outputs.begin(), matches[t].outputs.end());
        const std::size_t size = matches[t].interior.size() + matches[t].outputs.size();
        order.emplace_back(last, std::numeric_limits<std::size_t>::max() - size, t);
    }
    std::sort(order.begin(), order.end());
    std::vector<Match> sorted;
    sorted.reserve(matches.size());
    for (const auto& [last, size, t] : order) sorted.push_back(std::move(matches[t]));
    return sorted;
}

// Drops a shorter form of a definition that only serves a longer one: the normalized row of a layer norm before gamma
// and beta. A form of another dtype stays: the f32 part between the casts of a 16-bit form may have a kernel where that
// form has none.
void drop_parts(const ir::GraphData& graph, const EClasses& classes,
                std::vector<std::vector<Match>>& definition_matches) {
    if (std::all_of(definition_matches.begin(), definition_matches.end(),
                    [](const auto& found) { return found.empty(); }))
        return;
    const auto in = [](const Nodes& list, NodeId id) { return std::find(list.begin(), list.end(), id) != list.end(); };
    std::vector<std::vector<NodeId>> users(graph.nodes().size());
    for (NodeId id = 0; id < graph.nodes().size(); ++id)
        for (const NodeId operand : graph.node(id).operands) users[classes.value_of(operand)].push_back(id);
    for (const ir::Output& output : graph.outputs()) users[output.node].push_back(output.node);
    const auto users_of = [&](NodeId id) -> const std::vector<NodeId>& { return users[classes.value_of(id)]; };
    const auto serves = [&](NodeId id, const Match& match) {
        return in(match.interior, id) && std::all_of(users_of(id).begin(), users_of(id).end(), [&](NodeId user) {
                   return user != id && (in(match.interior, user) || in(match.outputs, user));
               });
    };
    for (std::size_t root = 0; root < definition_matches.size(); ++root)
        for (std::size_t i = 0; i < definition_matches[root].size(); ++i) {
            const Match& match = definition_matches[root][i];
            for (const NodeId id : match.interior)
                if (!definition_matches[id].empty() && graph.node(id).dtype == graph.node(match.outputs.back()).dtype &&
                    serves(id, match))
                    std::erase_if(definition_matches[id],
                                  [&](const Match& part) { return part.definition == match.definition; });
        }
}

/// The matches of each node, and those that bodies may contain.
struct DefinitionMatches {
    explicit DefinitionMatches(std::size_t nodes) : matches(nodes), is_read(nodes, false) {}

    std::vector<std::vector<Match>> matches;  ///< by node, without products
    std::vector<bool> is_read;                ///< by any match
    FusibleMatches parts;
};

DefinitionMatches definition_matches_of(const ir::GraphData& graph, const EClasses& classes,
                                        std::span<const Pattern> patterns, const std::stop_token& stop) {
    DefinitionMatches definition_matches(graph.nodes().size());
    if (patterns.empty()) return definition_matches;
    Matcher matcher(graph, classes, patterns, stop);
    definition_matches.matches = match_all(matcher, stop);
    drop_parts(graph, classes, definition_matches.matches);
    for (const std::vector<Match>& found : definition_matches.matches)
        for (const Match& match : found)
            for (const NodeId input : match.inputs) definition_matches.is_read[input] = true;
    definition_matches.parts =
        FusibleMatches(graph, matcher.forms(), classes, patterns, definition_matches.matches, stop);
    return definition_matches;
}

}  // namespace

std::size_t axes_in(const ir::GraphData& graph) {
    std::size_t axes = 4;  // patterns of this rank serve most graphs
    for (const ir::Node& node : graph.nodes()) axes = std::max(axes, node.shape.size());
    return axes;
}

GraphTraits::GraphTraits(const ir::GraphData& graph)
    : axes(axes_in(graph)),
      rounds(std::any_of(graph.nodes().begin(), graph.nodes().end(),
                         [&](const ir::Node& node) {
                             return node.op == ir::Op::cast && is_widening(node.dtype, DType::f32) &&
                                    is_widening(node.dtype, graph.node(node.operands[0]).dtype);
                         })),
      multiplies_integers(
          std::any_of(graph.nodes().begin(), graph.nodes().end(),
                      [](const ir::Node& node) { return node.op == ir::Op::matmul && !is_float(node.dtype); })),
      ops(0) {
    for (const ir::Node& node : graph.nodes()) ops |= op_bit(node.op);
}

Patterns patterns_of(std::span<const Definition> definitions, const GraphTraits& sought, const std::stop_token& stop) {
    PatternSet set{make_patterns(definitions, stop, sought), {}, sought};
    std::uint64_t required = 0;
    for (const Definition& definition : definitions) {
        if (!definition.windowed_definition.empty()) set.windowed_definitions.push_back(&definition);
        required |= required_ops_of(definition);
    }
    set.traits.ops |= ~required;
    return std::make_shared<const PatternSet>(std::move(set));
}

const GraphTraits& traits_of(const PatternSet& patterns) noexcept { return patterns.traits; }

bool provides_a_value_twice(const EClasses& classes, const Match& match) {
    for (std::size_t i = 1; i < match.outputs.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (classes.value_of(match.outputs[i]) == classes.value_of(match.outputs[j])) return true;
    return false;
}

std::vector<Match> propose(const ir::GraphData& graph, std::span<const Definition> definitions,
                           const Options& options) {
    if (!options.composites) definitions = {};
    return propose(graph, patterns_of(definitions, GraphTraits(graph), options.stop), options);
}

std::vector<Match> propose(const ir::GraphData& graph, const Patterns& patterns, const Options& options) {
    return propose(graph, EClasses(graph), patterns, options);
}

std::vector<Match> propose(const ir::GraphData& graph, const EClasses& classes, const Patterns& patterns,
                           const Options& options) {
    const std::size_t count = graph.nodes().size();
    const bool matches_definitions = options.composites && patterns;
    DefinitionMatches definition_matches = definition_matches_of(
        graph, classes, matches_definitions ? std::span(patterns->patterns) : std::span<const Pattern>(), options.stop);
    std::vector<std::vector<Match>> groups(count);
    if (options.elementwise)
        groups = FusionGroups(graph, classes, definition_matches.parts, options.stop).all(definition_matches.is_read);
    std::vector<Match> matches;
    for (NodeId value = 0; value < count; ++value) {
        if (options.stop.stop_requested()) throw Cancelled("fuse");
        if (classes.value_of(value) != value || ir::is_given(graph.node(value))) continue;
        const std::size_t first = matches.size();
        const auto add = [&](Match match) {
            const auto is_known = [&](const Match& other) { return same_match(classes, other, match); };
            if (std::none_of(matches.begin() + static_cast<std::ptrdiff_t>(first), matches.end(), is_known))
                matches.push_back(std::move(match));
        };
        for (const NodeId id : classes.expressions(value)) {
            for (Match& match : definition_matches.matches[id]) add(std::move(match));
            for (Match& match : groups[id]) add(std::move(match));
            add(single(graph, classes, id));
        }
    }
    if (matches_definitions)
        for (Match& of_image : with_image_matches(graph, classes, patterns->windowed_definitions, matches))
            matches.push_back(std::move(of_image));
    if (options.moved_results)
        for (Match& moved : with_moved_results(graph, classes, matches)) matches.push_back(std::move(moved));
    // A definition may have two results that are one value here.
    std::erase_if(matches, [&](const Match& match) { return provides_a_value_twice(classes, match); });
    return by_last_output(std::move(matches));
}

}  // namespace cairn::fusion
