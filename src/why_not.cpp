#include "fuse/why_not.hpp"
#include "cairn/compile.hpp"
#include "kernels/near_misses.hpp"
#include "simplify/simplify.hpp"

namespace cairn::inline v0 {

std::string why_not(const Tensor& value, std::string_view definition, const Context& context) {
    if (value.empty()) throw Error(ErrorKind::argument, "why_not", "the value is an empty or moved-from Tensor");
    ir::GraphData graph = *value.graph();
    graph.add_output("why not", value.id());
    const simplify::Simplified simple = simplify::simplify(graph);
    const auto reason = [&](std::span<const Definition> definitions) {
        return fuse::why_not(*simple.graph, *simple.map[value.id()], definitions, definition);
    };
    std::string missed = reason(context.kernels().definitions);
    if (missed.empty()) return missed;
    for (const kernels::NearMiss& miss : kernels::near_misses())
        if (miss.definition.name == definition && reason({&miss.definition, 1}).empty()) return miss.reason;
    return missed;
}

}  // namespace cairn::inline v0
