#include "fusion/extraction.hpp"

#include "cairn/composites.hpp"
#include "fusion/match_verifier.hpp"
#include "rewrite/alternatives/expand.hpp"
#include "rewrite/simplify/simplify.hpp"
#include "tests/fusion/match_check.hpp"
#include "tests/rewrite/alternatives/random_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cairn::test {
namespace {

using alternatives::EClasses;
using ir::NodeId;

const fusion::Patterns& patterns() {
    static const fusion::Patterns made = fusion::patterns_of(definitions(), 4);
    return made;
}

struct ExpandedGraph {
    explicit ExpandedGraph(const Graph& graph)
        : ExpandedGraph(alternatives::expand(*simplify::simplify(*graph.data()).graph)) {}
    explicit ExpandedGraph(alternatives::Expansion expansion)
        : classes(std::move(expansion.classes)),
          proposed{expansion.graph, fusion::propose(*expansion.graph, classes, patterns())} {}

    const ir::GraphData& graph() const { return *proposed.graph; }
    // The inputs of the matches of a definition, `x, w*`: leaves by name, computed values by the name of a weight they
    // need.
    std::vector<std::string> found_matches(std::string_view definition) const {
        std::vector<std::string> found;
        for (const fusion::Match& match : proposed.matches) {
            if (definition_text(match) != definition || !match.moved.empty()) continue;
            std::string text;
            for (const NodeId input : match.inputs) text += (text.empty() ? "" : ", ") + name_of(input);
            found.push_back(text);
        }
        std::sort(found.begin(), found.end());
        return found;
    }
    std::string name_of(NodeId id) const {
        const ir::Node& node = graph().node(id);
        return node.operands.empty() ? node.name : name_of(node.operands[0]) + "*";
    }

    EClasses classes;
    Proposed proposed;
};

// True if some expression of a value, or of one it depends on, reads the other.
bool depends_on(const ExpandedGraph& e, NodeId value, NodeId other) {
    std::set<NodeId> open{value};
    while (!open.empty()) {
        const NodeId at = *open.rbegin();
        open.erase(at);
        if (at == other) return true;
        for (const NodeId expression : e.classes.expressions(at))
            for (const NodeId operand : e.graph().node(expression).operands) open.insert(e.classes.value_of(operand));
    }
    return false;
}

void expect_sound(const ExpandedGraph& e, std::uint64_t seed) {
    EXPECT_EQ(fusion::verify(e.graph(), e.classes, e.proposed.matches, definitions()), "");
    EXPECT_EQ(fault_in_matches(e.proposed, seed, 1e-4), "");
    std::set<std::string> known;
    for (fusion::Match match : e.proposed.matches) {
        for (const NodeId input : match.inputs) {
            EXPECT_EQ(e.classes.value_of(input), input);
            for (const NodeId output : match.outputs)
                EXPECT_FALSE(depends_on(e, input, e.classes.value_of(output))) << fusion::to_string({match});
        }
        for (NodeId& output : match.outputs) output = e.classes.value_of(output);
        match.interior.clear();
        EXPECT_TRUE(known.insert(fusion::to_string({match})).second) << fusion::to_string({match});
    }
}

TEST(Extraction, FollowsOneNumberEverywhere) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3}), a = x + x, b = x * 2, c = 2 * x, y = tanh(a), z = sin(x);
    EClasses classes(*g.data());
    classes.join(a.id(), b.id(), {});
    classes.join(a.id(), c.id(), {});
    const NodeId wanted[] = {a.id(), b.id(), c.id(), c.id()};
    for (std::size_t number = 0; number < 4; ++number) {
        const fusion::Extraction extraction(*g.data(), classes, number);
        EXPECT_EQ(extraction.operands(y.id())[0], wanted[number]);
        EXPECT_EQ(extraction.operands(z.id())[0], x.id());
        EXPECT_EQ(extraction.choices(y.id()), 3u);
        EXPECT_EQ(extraction.choices(z.id()), 1u);
    }
}

TEST(Extraction, PassesOverViews) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {6}), a = slice(x, 0, 0, 3), c = slice(x * 2, 0, 0, 3),
                 d = slice(x, 0, 0, 3) + 0, y = tanh(a), twin = tanh(c);
    EClasses classes(*g.data());
    classes.join(a.id(), c.id(), {});
    classes.join(a.id(), d.id(), {});
    const fusion::Extraction first(*g.data(), classes, 0), second(*g.data(), classes, 1);
    EXPECT_EQ(first.operands(y.id())[0], a.id());
    EXPECT_EQ(second.operands(y.id())[0], d.id());
    EXPECT_EQ(first.operands(twin.id())[0], a.id()) << "whatever it was computed from";
    EXPECT_EQ(first.choices(y.id()), 2u);
}

// gelu(x w + b + (x down) up 0.5) is one kernel on x (w + down up 0.5), whichever of the three terms is added last.
TEST(Extraction, AnAdapterIsMergedIntoTheWeightOfItsLayer) {
    for (const bool bias_last : {false, true}) {
        Graph g("g");
        const Tensor x = g.input("x", DType::f32, {g.symbol("N", 1, 4), 8});
        const Tensor low = matmul(matmul(x, g.weight("down", DType::f32, {8, 1})), g.weight("up", DType::f32, {1, 8}));
        const Tensor product = matmul(x, g.weight("w", DType::f32, {8, 8})), b = g.weight("b", DType::f32, {8});
        g.output("y", gelu(bias_last ? product + low * 0.5 + b : product + b + low * 0.5));
        const ExpandedGraph e(g);
        expect_sound(e, 1);
        const auto found = e.found_matches("fused matmul add gelu");
        EXPECT_EQ(found, (std::vector<std::string>{bias_last ? "x, w*, b" : "x, down**, b"}));
        fusion::MatchVerifier proof(e.graph(), e.classes, definitions());
        for (const fusion::Match& match : e.proposed.matches)
            if (definition_text(match) == "fused matmul add gelu") {
                EXPECT_TRUE(proof.laws_of(match).has(normal_form::Law::reassociated));
            }
    }
}

TEST(Extraction, DefinitionsAreMatchedOnEachExpression) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {g.symbol("N", 1, 4), 4});
    g.output("y", gelu((matmul(x, g.weight("w", DType::f32, {4, 5})) + g.weight("b", DType::f32, {5})) * 0.5));
    const ExpandedGraph e(g);
    expect_sound(e, 1);
    EXPECT_EQ(e.found_matches("fused matmul add"), (std::vector<std::string>{"x, w*, b*", "x, w, b"}));
    EXPECT_EQ(e.found_matches("fused matmul add gelu"), (std::vector<std::string>{"x, w*, b*"}));
}

TEST(Extraction, FindsTheBlocksOfATransformer) {
    Graph g("g");
    const auto weight = [&](const std::string& name, Shape shape) {
        return g.weight(name, DType::f32, std::move(shape));
    };
    const Dim batch = g.symbol("B", 1, 3), length = g.symbol("S", 1, 5);
    const Tensor x = g.input("x", DType::f32, {batch, length, 8});
    const Tensor n = layer_norm(x, weight("gamma", {8}), weight("beta", {8}), 1e-5);
    const auto head = [&](const std::string& name) {
        const Tensor y = linear(n, transpose(weight(name, {8, 8}), {1, 0}), weight(name + ".b", {8}));
        return transpose(reshape(y, {batch, length, 2, 4}), {0, 2, 1, 3});
    };
    const Tensor seen = attention(head("q"), head("k"), head("v"));
    const Tensor out = reshape(transpose(seen, {0, 2, 1, 3}), {batch, length, 8});
    const Tensor h = rms_norm(x + linear(out, weight("o", {8, 8}), weight("o.b", {8})), weight("gain", {8}), 1e-5);
    g.output("y", silu(matmul(h, weight("gate", {8, 12}))) * matmul(h, weight("up", {8, 12})));
    const ExpandedGraph e(g);
    expect_sound(e, 2);
    EXPECT_EQ(e.found_matches("attention").size(), 1u);
    EXPECT_EQ(e.found_matches("linear_swiglu"), (std::vector<std::string>{"gain*, gate, up", "x**, gate*, up*"}));
    EXPECT_EQ(e.found_matches("fused matmul add").size(), 4u + 1 + 3 + 1)
        << "apart, merged, on the plain norm, merged there";
}

// Elementwise groups that could contain the biases leave the sums to the merged product.
TEST(Extraction, GroupsReadValuesWithSeveralExpressions) {
    Graph g("g");
    const auto weight = [&](const std::string& name, Shape shape) {
        return g.weight(name, DType::f32, std::move(shape));
    };
    const Tensor x = g.input("x", DType::f32, {3, 4});
    const Tensor gate = linear(x, weight("gate", {4, 5}), weight("gate.b", {5})),
                 up = linear(x, weight("up", {4, 5}), weight("up.b", {5}));
    g.output("y", tanh(gate) * up);
    const ExpandedGraph e(g);
    expect_sound(e, 3);
    const NodeId y = e.graph().outputs()[0].node;
    std::set<std::vector<NodeId>> inputs;
    for (const fusion::Match& match : e.proposed.matches)
        if (match.definition == "elementwise" && match.outputs.back() == y)
            inputs.insert({match.inputs.begin(), match.inputs.end()});
    std::vector<NodeId> sums;
    for (NodeId id = 0; id < e.graph().nodes().size(); ++id)
        if (e.classes.value_of(id) == id && e.classes.expressions(id).size() == 2) sums.push_back(id);
    EXPECT_EQ(sums.size(), 2u);
    EXPECT_EQ(inputs.size(), 2u) << "with the biases and without";
    EXPECT_TRUE(inputs.contains(sums));
}

TEST(Extraction, GroupsReadValues) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3}), a = cumsum(x, 0), b = cumsum(neg(x), 0), y = tanh(b);
    EClasses classes(*g.data());
    classes.join(a.id(), b.id(), {});
    for (const fusion::Match& match : fusion::propose(*g.data(), classes, nullptr))
        EXPECT_TRUE(match.outputs.back() != y.id() || match.inputs[0] == a.id()) << fusion::to_string({match});
}

// gamma may depend on the sum in another expression: then one kernel cannot compute the sum and read gamma.
TEST(Extraction, NoMatchDependsOnItselfInAnyExpression) {
    const auto count_with = [](bool joins) {
        Graph g("g");
        const Tensor x = g.input("x", DType::f32, {3, 4}), y = g.input("y", DType::f32, {3, 4}), sum = x + y;
        const Tensor gamma = tanh(g.input("h", DType::f32, {4})), other = cairn::sum(exp(sum), {0});
        const Tensor norm = layer_norm(sum, gamma, g.input("beta", DType::f32, {4}), 1e-5);
        g.output("sum", sum);
        g.output("y", norm);
        EClasses classes(*g.data());
        if (joins) classes.join(gamma.id(), other.id(), {});
        const auto matches = fusion::propose(*g.data(), classes, patterns());
        return std::count_if(matches.begin(), matches.end(), [&](const fusion::Match& match) {
            return match.definition == "add_layer_norm" && match.outputs.size() == 2 &&
                   std::count(match.inputs.begin(), match.inputs.end(), gamma.id()) > 0;
        });
    };
    EXPECT_EQ(count_with(false), 1);
    EXPECT_EQ(count_with(true), 0);
}

TEST(Extraction, SingleExpressionsChangeNothing) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto graph = simplify::simplify(*random_model(seed).data()).graph;
        EXPECT_EQ(fusion::to_string(fusion::propose(*graph, EClasses(*graph), patterns())),
                  fusion::to_string(fusion::propose(*graph, definitions())));
    }
}

TEST(Extraction, RandomModels) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        expect_sound(ExpandedGraph(random_model(seed)), seed);
        if (HasFailure()) FAIL() << "seed " << seed;
    }
}

}  // namespace
}  // namespace cairn::test
