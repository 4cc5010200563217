#include "tests/fusion/match_check.hpp"

#include "cairn/composites.hpp"
#include "fusion/pattern.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "graph/ir/problem_graph.hpp"
#include "kernels/definitions.hpp"
#include "rewrite/simplify/simplify.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <algorithm>
#include <cmath>

namespace cairn::test {
namespace {

std::vector<Definition> make_definitions() {
    std::vector<Definition> list = kernels::definitions();
    for (Definition& definition : list)
        if (definition.name == "rope" && definition.patterns.empty())
            definition.patterns = {"rope base=? | f32[T,D] i32[T]"};
    return list;
}

// Largest magnitude, to which a tolerance is relative.
double size_of_values(const interpreter::Value& value) {
    double size = 1;
    for (const double element : value.data)
        if (std::isfinite(element)) size = std::max(size, std::fabs(element));
    return size;
}

std::string match_fault(const Proposed& proposed, const fusion::Match& match, std::span<const interpreter::Value> nodes,
                        std::span<const std::int64_t> sizes, double tolerance) {
    Problem problem;
    problem.definition = match.definition;
    problem.attributes = match.attributes;
    problem.body = match.body;
    problem.results = match.results;
    interpreter::Inputs inputs;
    for (std::size_t i = 0; i < match.inputs.size(); ++i) {
        const interpreter::Value& value = nodes[match.inputs[i]];
        problem.inputs.push_back(TensorDesc::dense(value.dtype, Shape(value.shape.begin(), value.shape.end())));
        inputs.tensors["in" + std::to_string(i)] = value;
    }
    for (const ir::NodeId output : match.computed()) {
        const interpreter::Value& value = nodes[output];
        problem.outputs.push_back(TensorDesc::dense(value.dtype, Shape(value.shape.begin(), value.shape.end())));
    }
    const Graph graph = ir::problem_graph(at_sizes(problem, sizes), definitions());
    const auto results = interpreter::interpret(*graph.data(), inputs);
    const fusion::Nodes computed = match.computed();
    for (std::size_t i = 0; i < computed.size(); ++i) {
        const interpreter::Value& expected = nodes[computed[i]];
        const std::string text =
            difference(results.outputs.at("out" + std::to_string(i)), expected, tolerance * size_of_values(expected));
        if (!text.empty()) return summary(proposed, match) + " output " + std::to_string(i) + " " + text;
    }
    return {};
}

// Throws if patterns made for this graph alone would miss a match: its definition requires an op that is not here.
void check_required_ops(const Proposed& proposed) {
    const std::uint64_t ops = fusion::GraphTraits(*proposed.graph).ops;
    for (const fusion::Match& match : proposed.matches)
        for (const Definition& definition : definitions())
            if (definition.name == match.definition && (fusion::required_ops_of(definition) & ~ops) != 0)
                throw std::logic_error("the graph lacks an op that is required for " + summary(proposed, match));
}

}  // namespace

const std::vector<Definition>& definitions() {
    static const std::vector<Definition> list = make_definitions();
    return list;
}

Proposed proposed(const Graph& graph) {
    Proposed result;
    result.graph = simplify::simplify(*graph.data()).graph;
    static const fusion::Patterns patterns = fusion::patterns_of(definitions(), fusion::max_axes + 1);
    result.matches = fusion::propose(*result.graph, patterns);
    check_required_ops(result);
    return result;
}

const fusion::Match* match_at_output(const Proposed& proposed, std::string_view definition) {
    for (const ir::Output& output : proposed.graph->outputs())
        for (const fusion::Match& match : proposed.matches)
            if (output.name == "y" && match.definition == definition && match.computed().back() == output.node)
                return &match;
    return nullptr;
}

const fusion::Match* match_that_is(const Proposed& proposed, std::string_view wanted) {
    for (const ir::Output& output : proposed.graph->outputs())
        for (const fusion::Match& match : proposed.matches)
            if (output.name == "y" && match.computed().back() == output.node && summary(proposed, match) == wanted)
                return &match;
    return nullptr;
}

std::string definition_text(const fusion::Match& match) {
    std::string work = match.definition;
    if (work == "fused")
        for (const Step& step : match.body.steps()) work += " " + step.op;
    return work;
}

std::string fault_in_matches(const Proposed& proposed, std::uint64_t seed, double tolerance) {
    for (const auto& sizes : random_sizes(*proposed.graph, 3, seed)) {
        const auto nodes = interpreter::interpret_nodes(*proposed.graph, random_inputs(*proposed.graph, sizes, seed));
        std::vector<std::int64_t> list;
        for (const auto& symbol : proposed.graph->symbols()->list()) list.push_back(sizes.at(symbol.name));
        for (const fusion::Match& match : proposed.matches) {
            const std::string text = match_fault(proposed, match, nodes, list, tolerance);
            if (!text.empty()) return text;
        }
    }
    return {};
}

std::string summary(const Proposed& proposed, const fusion::Match& match) {
    std::string text = fusion::to_string({match});
    text = text.substr(0, text.find(" ("));
    std::string operands;
    for (const ir::NodeId input : match.inputs) {
        const std::string& name = proposed.graph->node(input).name;
        operands += (operands.empty() ? "" : ", ") + (name.empty() ? "%" + std::to_string(input) : name);
    }
    return text + " (" + operands + ")";
}

}  // namespace cairn::test
