#include "equivalence_cases.hpp"

#include "cairn/ops.hpp"
#include "graph/ir/verify.hpp"
#include "rewrite/alternatives/equivalence_rule.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::test {
namespace {

using ir::NodeId;

// The graph with all values that have several expressions as outputs.
Graph with_all_expressions(const alternatives::Expansion& expansion) {
    auto shown = std::make_shared<ir::GraphData>(expansion.graph->name(), expansion.graph->symbols());
    std::vector<NodeId> map(expansion.graph->nodes().size());
    for (NodeId id = 0; id < map.size(); ++id) map[id] = ir::copy_node(expansion.graph->node(id), map, *shown);
    ir::copy_outputs_and_states(*expansion.graph, map, *shown);
    for (NodeId id = 0; id < map.size(); ++id)
        if (expansion.classes.expressions(expansion.classes.value_of(id)).size() > 1)
            shown->add_output("value." + std::to_string(id), map[id]);
    return Graph(shown);
}

// The interpreter computes in f64.
constexpr double tolerance = 1e-9;

std::string difference_within(const interpreter::Value& value, const interpreter::Value& expected, bool is_exact) {
    // Inexact laws: one may overflow, or be NaN where terms are infinite, when the other does not (docs/numbers.md).
    if (is_exact) return difference(value, expected, tolerance);
    interpreter::Value known = value, wanted = expected;
    for (std::size_t i = 0; i < wanted.data.size(); ++i)
        if (!std::isfinite(wanted.data[i]) || !std::isfinite(known.data[i])) known.data[i] = wanted.data[i] = 0;
    return difference(known, wanted, tolerance);
}

}  // namespace

std::string fault_in_values(const alternatives::Expansion& expansion, std::uint64_t seed, int special_in) {
    const Graph shown = with_all_expressions(expansion);
    for (const auto& sizes : random_sizes(*shown.data(), 3, seed)) {
        const auto outputs =
            interpreter::interpret(*shown.data(), random_inputs(*shown.data(), sizes, seed, special_in)).outputs;
        for (NodeId id = 0; id < expansion.graph->nodes().size(); ++id) {
            const NodeId value = expansion.classes.value_of(id);
            if (value == id) continue;
            const bool exact = special_in == 0 || expansion.classes.laws_of(id).empty();
            const std::string fault = difference_within(outputs.at("value." + std::to_string(id)),
                                                        outputs.at("value." + std::to_string(value)), exact);
            if (!fault.empty()) return "%" + std::to_string(id) + " is not %" + std::to_string(value) + ": " + fault;
        }
    }
    return {};
}

alternatives::Expansion checked_expansion(const Graph& graph, std::string_view row) {
    alternatives::Options options;
    for (const alternatives::EquivalenceRule& each : alternatives::all_equivalence_rules())
        if (!row.empty() && each.name != row) options.disabled.emplace_back(each.name);
    alternatives::Expansion expansion = alternatives::expand(*graph.data(), options);
    EXPECT_EQ(ir::verify(*expansion.graph), "");
    EXPECT_EQ(alternatives::verify(*expansion.graph, expansion.classes), "") << to_string(Graph(expansion.graph));
    EXPECT_EQ(fault_in_values(expansion, 1), "") << to_string(Graph(expansion.graph));
    EXPECT_EQ(fault_in_values(expansion, 2, 5), "") << to_string(Graph(expansion.graph));
    return expansion;
}

std::size_t count_of_expressions(const Graph& graph, std::string_view row) {
    const alternatives::Expansion expansion = checked_expansion(graph, row);
    std::size_t count = 0;
    for (NodeId id = 0; id < expansion.graph->nodes().size(); ++id)
        if (expansion.classes.value_of(id) != id) ++count;
    return count;
}

std::string expanded(std::string_view lines, std::string_view row) {
    const Graph graph = parse_graph("graph g (N in 0..5, M in 1..4)" + std::string(lines));
    const alternatives::Expansion expansion = checked_expansion(graph, row);
    const std::string text = to_string(Graph(expansion.graph));
    return text.substr(text.find('\n')) + to_string(*expansion.graph, expansion.classes);
}

}  // namespace cairn::test
