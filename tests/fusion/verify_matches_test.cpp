#include "cairn/composites.hpp"
#include "tests/fusion/match_check.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace cairn::test {
namespace {

Proposed of_a_block() {
    Graph g("g");
    const Dim t = g.symbol("T", 1, 4);
    const Tensor x = g.input("x", DType::f32, {t, 6}), gamma = g.weight("gamma", DType::f32, {6}),
                 beta = g.weight("beta", DType::f32, {6}), w = g.weight("w", DType::f32, {6, 6});
    g.output("y", gelu(linear(layer_norm(x, gamma, beta), w, beta)) + x);
    return proposed(g);
}

fusion::Match& match_of(Proposed& proposed, std::string_view definition) {
    for (fusion::Match& match : proposed.matches)
        if (match.definition == definition) return match;
    throw std::runtime_error("no match of " + std::string(definition));
}

std::string fault_of(const Proposed& proposed) {
    return fusion::verify(*proposed.graph, alternatives::EClasses(*proposed.graph), proposed.matches, definitions());
}

TEST(VerifyMatches, ProposedMatchesComputeTheirOutputs) {
    EXPECT_EQ(fault_of(of_a_block()), "");
    for (const bool wild : {false, true})
        for (std::uint64_t seed = 0; seed < 60; ++seed)
            EXPECT_EQ(fault_of(proposed(random_graph(seed, {.edge_values = wild}))), "")
                << seed << (wild ? " wild" : "");
}

TEST(VerifyMatches, DetectsFaultyMatches) {
    struct Case {
        const char* definition;
        std::function<void(fusion::Match&)> spoil;
        const char* fault;
    };
    const Case cases[] = {
        {"layer_norm", [](fusion::Match& match) { match.attributes[0].value = 0.5; }, "does not compute %"},
        {"layer_norm", [](fusion::Match& match) { std::swap(match.inputs[1], match.inputs[2]); }, "does not compute %"},
        {"layer_norm", [](fusion::Match& match) { match.inputs.pop_back(); }, "does not compute %"},
        {"layer_norm", [](fusion::Match& match) { match.inputs.clear(); }, "cannot be rebuilt"},
        {"fused", [](fusion::Match& match) { std::swap(match.inputs[0], match.inputs[1]); }, ""},
        {"fused", [](fusion::Match& match) { match.results[0] = static_cast<int>(match.inputs.size()); },
         "does not compute %"},
        {"fused", [](fusion::Match& match) { match.definition = "elementwise"; }, "cannot be rebuilt"},
        {"fused", [](fusion::Match& match) { match.definition = "unknown"; }, "cannot be rebuilt"},
        {"matmul", [](fusion::Match& match) { std::swap(match.inputs[0], match.inputs[1]); }, ""},
        {"fused", [](fusion::Match& match) { match.outputs[0] = 100000; }, "names node %100000"},
        {"fused", [](fusion::Match& match) { match.inputs.push_back(match.outputs[0]); }, "which it reads"},
        {"elementwise", [](fusion::Match& match) { match.outputs.clear(); }, "has no output"},
    };
    for (const Case& c : cases) {
        Proposed spoiled = of_a_block();
        c.spoil(match_of(spoiled, c.definition));
        const std::string fault = fault_of(spoiled);
        EXPECT_NE(fault, "") << c.definition << " " << c.fault;
        EXPECT_NE(fault.find(c.fault), std::string::npos) << fault;
    }
}

}  // namespace
}  // namespace cairn::test
