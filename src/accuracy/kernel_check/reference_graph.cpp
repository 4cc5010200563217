#include "cairn/check.hpp"
#include "cairn/ports.hpp"
#include "graph/ir/problem_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::inline v0 {
namespace {

[[noreturn]] void refuse_problem(const Problem& problem, const std::string& fault) {
    throw Error(ErrorKind::argument, problem.definition.empty() ? "problem" : problem.definition, fault);
}

void check_axes(const Problem& problem) {
    for (const Attribute& attribute : problem.attributes) {
        const auto* list = std::get_if<std::vector<Dim>>(&attribute.value);
        if (list == nullptr || (attribute.name != "axis" && attribute.name != "axes")) continue;
        for (const Dim& axis : *list)
            if (!axis.is_constant() || axis.constant() >= 0)
                refuse_problem(problem,
                               fmt::format("axes count from the end: -1 is the last, got {}", to_string(axis)));
    }
}

void check_outputs(const Problem& problem, const Graph& graph) {
    std::vector<std::string> made, declared;
    for (const GraphPort& port : ports(graph))
        if (port.kind == GraphPort::Kind::output) made.push_back(to_string(port.dtype, port.shape));
    for (const TensorDesc& output : problem.outputs) declared.push_back(to_string(output.dtype, output.shape));
    if (made != declared)
        refuse_problem(problem, fmt::format("it makes {}, but the outputs are {}", fmt::join(made, " "),
                                            declared.empty() ? "none" : fmt::format("{}", fmt::join(declared, " "))));
}

}  // namespace

Graph reference_graph(const Problem& problem, const Context& context) {
    check_axes(problem);
    const Graph graph = ir::problem_graph(problem, context.kernels().definitions);
    check_outputs(problem, graph);
    return graph;
}

}  // namespace cairn::inline v0
