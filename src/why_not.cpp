#include "fuse/why_not.hpp"
#include "cairn/compile.hpp"
#include "kernels/near_misses.hpp"
#include "simplify/simplify.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

std::string why_not(const Tensor& value, std::string_view definition, const Context& context) {
    if (value.empty()) throw Error(ErrorKind::argument, "why_not", "the value is an empty or moved-from Tensor");
    const std::vector<Definition>& definitions = context.kernels().definitions;
    check_name(definitions, definition);
    ir::GraphData graph = *value.graph();
    graph.add_output("why not", value.id());
    const simplify::Simplified simple = simplify::simplify(graph);
    const auto reason = [&](std::span<const Definition> among) {
        return fuse::why_not(*simple.graph, *simple.map[value.id()], among, definition);
    };
    std::string missed = reason(definitions);
    if (missed.empty()) return missed;
    for (const kernels::NearMiss& miss : kernels::near_misses())
        if (miss.definition.name == definition && reason({&miss.definition, 1}).empty()) return miss.reason;
    return missed;
}

}  // namespace cairn::inline v0
