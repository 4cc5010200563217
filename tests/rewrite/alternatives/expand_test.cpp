#include "rewrite/alternatives/expand.hpp"

#include "cairn/composites.hpp"
#include "cairn/ops.hpp"
#include "equivalence_cases.hpp"
#include "graph/ir/verify.hpp"
#include "random_model.hpp"
#include "rewrite/alternatives/equivalence_rule.hpp"
#include "rewrite/simplify/simplify.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cairn::test {
namespace {

TEST(Expand, RandomModels) {
    std::size_t expressions = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Graph graph = random_model(seed);
        for (const auto& each : {graph.data(), simplify::simplify(*graph.data()).graph}) {
            const alternatives::Expansion expansion = checked_expansion(Graph(each));
            for (ir::NodeId id = 0; id < expansion.graph->nodes().size(); ++id)
                if (expansion.classes.value_of(id) != id) ++expressions;
        }
        if (HasFailure()) FAIL() << "seed " << seed << "\n" << to_string(graph);
    }
    EXPECT_GT(expressions, 3000u);
}

TEST(Expand, RandomModelsUseEveryRule) {
    for (const alternatives::EquivalenceRule& row : alternatives::all_equivalence_rules()) {
        alternatives::Options others;
        for (const alternatives::EquivalenceRule& each : alternatives::all_equivalence_rules())
            if (each.name != row.name) others.disabled.emplace_back(each.name);
        std::size_t spelled = 0;
        for (std::uint64_t seed = 0; seed < 60; ++seed) {
            const auto graph = simplify::simplify(*random_model(seed).data()).graph;
            if (!alternatives::expand(*graph, others).classes.have_one_expression_each()) ++spelled;
        }
        EXPECT_GT(spelled, 5u) << row.name;
    }
}

// The normal form of n g + g is g (n + 1), so it does not prove n (g w) + g w equal.
TEST(Expand, UnprovedExpressionsAreRefused) {
    Graph graph("g");
    const Tensor n = graph.input("n", DType::f32, {3, 8}), g = graph.weight("g", DType::f32, {8}),
                 w = graph.weight("w", DType::f32, {8, 5});
    graph.output("y", matmul(n * g + g, w));
    const alternatives::Expansion expansion = alternatives::expand(*graph.data());
    EXPECT_EQ(alternatives::verify(*expansion.graph, expansion.classes), "");
    EXPECT_TRUE(expansion.classes.have_one_expression_each());
}

TEST(Expand, RandomGraphs) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        checked_expansion(Graph(simplify::simplify(*random_graph(seed).data()).graph));
        if (HasFailure()) FAIL() << "seed " << seed;
    }
}

// The graph in which each value has one of its expressions, picked at random.
std::shared_ptr<ir::GraphData> picked(const alternatives::Expansion& expansion, std::uint64_t seed) {
    const ir::GraphData& graph = *expansion.graph;
    std::mt19937_64 random(seed);
    std::vector<ir::NodeId> choice(graph.nodes().size()), made(choice.size()), map(choice.size());
    for (ir::NodeId id = 0; id < choice.size(); ++id) {
        const auto all = expansion.classes.expressions(expansion.classes.value_of(id));
        choice[id] = id == all[0] ? all[random() % all.size()] : choice[all[0]];
    }
    auto result = std::make_shared<ir::GraphData>(graph.name(), graph.symbols());
    for (ir::NodeId id = 0; id < choice.size(); ++id) {
        for (const ir::NodeId operand : graph.node(id).operands) map[operand] = made[choice[operand]];
        made[id] = ir::copy_node(graph.node(id), map, *result);
    }
    for (ir::NodeId id = 0; id < choice.size(); ++id) map[id] = made[choice[id]];
    ir::copy_outputs_and_states(graph, map, *result);
    return result;
}

TEST(Expand, AnyChoiceOfExpressionsComputesTheSameValues) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const Graph graph = random_model(seed);
        const alternatives::Expansion expansion = alternatives::expand(*simplify::simplify(*graph.data()).graph);
        for (std::uint64_t pick = 0; pick < 3; ++pick) {
            const auto chosen = picked(expansion, 3 * seed + pick);
            ASSERT_EQ(ir::verify(*chosen), "") << seed;
            for (const auto& sizes : random_sizes(*graph.data(), 2, seed)) {
                const interpreter::Inputs inputs = random_inputs(*graph.data(), sizes, seed);
                const auto expected = interpreter::interpret(*graph.data(), inputs).outputs;
                for (const auto& [name, value] : interpreter::interpret(*chosen, inputs).outputs)
                    ASSERT_EQ(difference(value, expected.at(name), 1e-6), "") << name << " of seed " << seed;
            }
        }
    }
}

TEST(Expand, WithoutRulesTheGraphIsUnchanged) {
    const Graph graph = random_model(3);
    alternatives::Options options;
    for (const alternatives::EquivalenceRule& row : alternatives::all_equivalence_rules())
        options.disabled.emplace_back(row.name);
    const alternatives::Expansion expansion = alternatives::expand(*graph.data(), options);
    EXPECT_EQ(to_string(Graph(expansion.graph)), to_string(graph));
    EXPECT_TRUE(expansion.classes.have_one_expression_each());
}

TEST(Expand, RulesHaveLaws) {
    for (const alternatives::EquivalenceRule& row : alternatives::all_equivalence_rules()) {
        EXPECT_FALSE(row.name.empty());
        EXPECT_NE(row.law.find(" -> "), std::string_view::npos) << row.name;
    }
}

// Each block: a norm, queries, keys and values, a gate and the value it gates.
Graph layers(int count) {
    Graph g("g");
    Tensor x = g.input("x", DType::f32, {g.symbol("N", 1, 8), 4});
    for (int i = 0; i < count; ++i) {
        const auto weight = [&](const char* name, Shape shape) {
            return g.weight(name + std::to_string(i), DType::f32, std::move(shape));
        };
        const Tensor n = layer_norm(x, weight("gamma", {4}), weight("beta", {4}), 1e-5);
        const auto part = [&](const char* name) { return matmul(n, weight(name, {4, 4})); };
        x = x + tanh(part("q") * 0.5 + part("k")) * part("v");
    }
    g.output("y", x);
    return g;
}

TEST(Expand, GrowsWithTheGraph) {
    const auto size = [](int count) { return alternatives::expand(*layers(count).data()).graph->nodes().size(); };
    EXPECT_LE(size(200), 10 * size(20) + 20);
}

TEST(Expand, KeepsNamesStatesAndLines) {
    Graph g("model");
    const Tensor x = g.input("x", DType::f32, {2, 4});
    State state = g.state("s", DType::f32, {2, 5}, std::vector<float>(10));
    const Tensor y = matmul(x, g.weight("w", DType::f32, {4, 5})) * 0.5;
    g.output("z", state.write(y, 0));
    const alternatives::Expansion expansion = checked_expansion(g);
    EXPECT_EQ(expansion.graph->name(), "model");
    ASSERT_EQ(expansion.graph->states().size(), 1u);
    const ir::NodeId latest = expansion.graph->states()[0].latest;
    EXPECT_EQ(expansion.graph->outputs()[0].node, latest);
    const auto all = expansion.classes.expressions(expansion.graph->node(latest).operands[1]);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(expansion.graph->node(all[0]).where.line(), expansion.graph->node(all[1]).where.line());
}

}  // namespace
}  // namespace cairn::test
