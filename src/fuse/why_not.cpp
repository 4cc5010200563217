#include "fuse/why_not.hpp"

#include "fuse/match.hpp"
#include "fuse/search.hpp"
#include "ir/op_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace cairn::inline v0::fuse {
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

// The ops and powers of a feature set.
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

}  // namespace

std::string why_not(const ir::GraphData& graph, NodeId node, std::span<const Definition> definitions,
                    std::string_view name) {
    const auto definition =
        std::find_if(definitions.begin(), definitions.end(), [&](const Definition& d) { return d.name == name; });
    if (definition == definitions.end())
        throw Error(ErrorKind::argument, "fuse", fmt::format("there is no definition {}", name));
    const std::vector<Pattern> patterns = make_patterns({&*definition, 1});
    if (patterns.empty()) return fmt::format("{} is not looked for: it has no pattern", name);
    if (ir::is_given(graph.node(node))) return "the value is given, nothing computes it";

    const Classes classes(graph);
    Matcher matcher(graph, classes, patterns);
    matcher.note_misses();
    std::vector<Tile> tiles;
    matcher.match_at(node, tiles);
    if (!tiles.empty()) return {};
    if (const std::string& miss = matcher.furthest_miss(); !miss.empty()) return miss;

    const auto features_in = [](const Forms& forms, CanonId core) { return Features(forms.canon()).of(core); };
    const CanonId core = matcher.forms()[node].core;
    const std::uint64_t there = features_in(matcher.forms(), core);
    std::uint64_t missing = ~std::uint64_t{0};
    for (const Pattern& pattern : patterns) {
        const std::uint64_t lacks = pattern.features & ~there;
        if (std::popcount(lacks) < std::popcount(missing)) missing = lacks;
    }
    if (missing != 0) return fmt::format("{} computes {}, the value does not", name, names_of(missing));
    const Pattern& first = patterns.front();
    const Term& wanted = first.forms->canon().term((*first.forms)[first.skeleton.outputs[first.main]].core);
    const std::string_view is = kind_of(matcher.forms().canon().term(core)), should = kind_of(wanted);
    if (is != should) return fmt::format("by its normal form the value is {}, {} is {}", is, name, should);
    return fmt::format("no operands of {} are found where its ops stand", name);
}

}  // namespace cairn::inline v0::fuse
