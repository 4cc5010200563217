#include "fusion/why_not.hpp"

#include "fusion/matcher.hpp"
#include "fusion/pattern_search.hpp"
#include "graph/ir/op_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace cairn::fusion {
namespace {

using ir::NodeId;

std::string_view kind_of(const Term& term) {
    switch (term.kind) {
        case TermKind::one: return "a number";
        case TermKind::leaf: return "given";
        case TermKind::sum: return "a sum";
        case TermKind::product: return "a product";
        case TermKind::op: return ir::info(term.op).name;
    }
    return {};
}

// The names of the ops and powers in a feature set.
std::string names_of(std::uint64_t features) {
    std::string names;
    for (; features != 0; features &= features - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(features));
        const auto table = ir::op_table();
        if (!names.empty()) names += ", ";
        names += bit < table.size() ? std::string(table[bit].name) : feature_name(bit);
    }
    return names;
}

/// The nearest miss by what the nodes compute: nothing in their regions is similar enough for a guess.
Miss miss_by_form(Matcher& matcher, std::span<const NodeId> nodes, const std::vector<Pattern>& patterns,
                  std::string_view name) {
    const Normalizer& normalizer = matcher.forms().normalizer();
    FormFeatures features(normalizer);
    Miss nearest{nodes.front(), {}};
    std::uint64_t missing = ~std::uint64_t{0};
    for (const NodeId node : nodes) {
        const std::uint64_t available = features.of(matcher.forms()[node].core);
        for (const Pattern& pattern : patterns) {
            const std::uint64_t lacks = pattern.features & ~available;
            if (std::popcount(lacks) < std::popcount(missing)) missing = lacks, nearest.node = node;
        }
    }
    if (missing != 0) {
        nearest.reason = fmt::format("{} computes {}, the value does not", name, names_of(missing));
        return nearest;
    }
    const Pattern& first = patterns.front();
    const Term& wanted = first.forms->normalizer().term((*first.forms)[first.skeleton.outputs[first.main_output]].core);
    const std::string_view is = kind_of(normalizer.term(matcher.forms()[nearest.node].core)), should = kind_of(wanted);
    nearest.reason = is != should ? fmt::format("by its normal form the value is {}, {} is {}", is, name, should)
                                  : fmt::format("no operands of {} are found near its ops", name);
    return nearest;
}

}  // namespace

std::optional<Miss> nearest_miss(const ir::GraphData& graph, std::span<const NodeId> nodes,
                                 std::span<const Definition> definitions, std::string_view name) {
    const auto definition =
        std::find_if(definitions.begin(), definitions.end(), [&](const Definition& d) { return d.name == name; });
    if (definition == definitions.end())
        throw Error(ErrorKind::argument, "fuse", fmt::format("there is no definition {}", name));
    const std::vector<Pattern> patterns =
        make_patterns({&*definition, 1}, {}, GraphTraits(graph) | GraphTraits(max_axes + 1, false, false));
    if (patterns.empty()) return Miss{nodes.front(), fmt::format("{} is not matched: it has no pattern", name)};
    std::vector<NodeId> made;
    for (const NodeId node : nodes)
        if (!ir::is_given(graph.node(node))) made.push_back(node);
    if (made.empty()) return Miss{nodes.front(), "the value is given, nothing computes it"};

    const EClasses classes(graph);
    Matcher matcher(graph, classes, patterns);
    matcher.record_misses();
    std::vector<Match> matches;
    Miss nearest;
    for (const NodeId node : made) {
        matcher.match_at(node, matches);
        if (!matches.empty()) return std::nullopt;
        if (matcher.furthest_miss() != nearest.reason) nearest = {node, matcher.furthest_miss()};
    }
    return nearest.reason.empty() ? miss_by_form(matcher, made, patterns, name) : nearest;
}

std::string why_not(const ir::GraphData& graph, NodeId node, std::span<const Definition> definitions,
                    std::string_view name) {
    const std::optional<Miss> miss = nearest_miss(graph, {&node, 1}, definitions, name);
    return miss ? miss->reason : std::string();
}

}  // namespace cairn::fusion
