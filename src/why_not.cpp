#include "fuse/why_not.hpp"
#include "cairn/compile.hpp"
#include "simplify/simplify.hpp"

namespace cairn::inline v0 {

std::string why_not(const Tensor& value, std::string_view definition, const Context& context) {
    if (value.empty()) throw Error(ErrorKind::argument, "why_not", "the value is an empty or moved-from Tensor");
    ir::GraphData graph = *value.graph();
    graph.add_output("why not", value.id());
    const simplify::Simplified simple = simplify::simplify(graph);
    return fuse::why_not(*simple.graph, *simple.map[value.id()], context.kernels().definitions, definition);
}

}  // namespace cairn::inline v0
