#include "fusion/why_not.hpp"
#include "cairn/compile.hpp"
#include "kernels/near_misses.hpp"
#include "rewrite/simplify/simplify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace cairn::inline v0 {
namespace {

void check_name(std::span<const Definition> definitions, std::string_view name) {
    std::vector<std::string_view> known;
    for (const Definition& definition : definitions) known.push_back(definition.name);
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    std::sort(known.begin(), known.end());
    throw Error(ErrorKind::argument, "why_not",
                fmt::format("there is no definition {}: there are {}", name, fmt::join(known, ", ")));
}

/// Why no node matches the definition; the reason of a known near miss if one of them matches that.
std::optional<fusion::Miss> miss_of(const ir::GraphData& graph, std::span<const ir::NodeId> nodes,
                                    std::span<const Definition> definitions, std::string_view name) {
    std::optional<fusion::Miss> missed = fusion::nearest_miss(graph, nodes, definitions, name);
    if (!missed) return missed;
    for (const kernels::NearMiss& miss : kernels::near_misses())
        if (miss.definition.name == name && !fusion::nearest_miss(graph, nodes, {&miss.definition, 1}, name)) {
            missed->reason = miss.reason;
            break;
        }
    return missed;
}

}  // namespace

std::string why_not(const Tensor& value, std::string_view definition, const Context& context) {
    if (value.empty()) throw Error(ErrorKind::argument, "why_not", "the value is an empty or moved-from Tensor");
    const std::vector<Definition>& definitions = context.kernels().definitions;
    check_name(definitions, definition);
    ir::GraphData graph = *value.graph();
    graph.add_output("why not", value.id());
    const simplify::Simplified simple = simplify::simplify(graph);
    const ir::NodeId node = *simple.map[value.id()];
    const std::optional<fusion::Miss> missed = miss_of(*simple.graph, {&node, 1}, definitions, definition);
    return missed ? missed->reason : std::string();
}

std::string why_not(const Graph& graph, std::string_view definition, const Context& context) {
    const std::vector<Definition>& definitions = context.kernels().definitions;
    check_name(definitions, definition);
    const simplify::Simplified simple = simplify::simplify(*graph.data());
    std::vector<ir::NodeId> nodes(simple.graph->nodes().size());
    std::iota(nodes.begin(), nodes.end(), ir::NodeId{0});
    if (nodes.empty()) return "the graph has no values";
    const std::optional<fusion::Miss> missed = miss_of(*simple.graph, nodes, definitions, definition);
    if (!missed) return {};
    const std::source_location& where = simple.graph->node(missed->node).where;
    return where.line() == 0 ? missed->reason : fmt::format("{} ({})", missed->reason, Error::place(where));
}

}  // namespace cairn::inline v0
