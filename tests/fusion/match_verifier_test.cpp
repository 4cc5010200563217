#include "fusion/match_verifier.hpp"

#include "cairn/composites.hpp"
#include "rewrite/alternatives/expand.hpp"
#include "rewrite/simplify/simplify.hpp"
#include "tests/fusion/match_check.hpp"
#include "tests/rewrite/alternatives/random_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace cairn::test {
namespace {

using normal_form::Law, normal_form::Laws;

struct Labelled {
    explicit Labelled(const Graph& graph) : expansion(alternatives::expand(*simplify::simplify(*graph.data()).graph)) {}
    std::vector<fusion::Match> matches() const {
        return fusion::propose(*expansion.graph, expansion.classes, fusion::patterns_of(definitions(), 4));
    }
    // The laws of each match of a definition.
    std::vector<Laws> laws_of(std::string_view definition) const {
        fusion::MatchVerifier proof(*expansion.graph, expansion.classes, definitions());
        std::vector<Laws> found;
        for (const fusion::Match& match : matches())
            if (definition_text(match) == definition) found.push_back(proof.laws_of(match));
        return found;
    }
    alternatives::Expansion expansion;
};

TEST(MatchVerifier, ReportsTheFewestLaws) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), w = g.weight("w", DType::f32, {4, 5});
    g.output("y", gelu(linear(x, w, g.weight("b", DType::f32, {5})) * 0.3));
    const Labelled e(g);
    EXPECT_EQ(e.laws_of("gelu"), (std::vector<Laws>{Laws{}}));
    EXPECT_EQ(e.laws_of("fused matmul add gelu"), (std::vector<Laws>{Laws{Law::distributed}}));
    EXPECT_EQ(e.laws_of("fused matmul add"), (std::vector<Laws>{Laws{}, Laws{Law::distributed}}));
}

TEST(MatchVerifier, AMaskThatIsAddedIsALaw) {
    const auto attention_of = [](bool adds) {
        Graph g("g");
        const auto part = [&](const char* name) { return g.input(name, DType::f32, {2, 3, 5, 4}); };
        const Tensor q = part("q"), k = part("k"), v = part("v"), mask = g.input("mask", DType::boolean, {2, 1, 1, 5});
        const Tensor scores = matmul(q, swap_axes(k, -1, -2)), low = g.constant(DType::f32, -1e30);
        const Tensor masked = adds ? scores + where(mask, g.constant(DType::f32, 0.0), low) : where(mask, scores, low);
        g.output("y", matmul(softmax(masked, -1), v));
        return Labelled(g).laws_of("attention");
    };
    ASSERT_EQ(attention_of(false).size(), 1u);
    ASSERT_EQ(attention_of(true).size(), 1u);
    EXPECT_FALSE(attention_of(false)[0].has(Law::masked));
    EXPECT_TRUE(attention_of(true)[0].has(Law::masked));
}

/// A convolution with kernel size 1, whose windows and padding are simplified away.
Graph convolution_of_kernel_one() {
    Graph g("g");
    const Dim n = g.symbol("N", 1, 40);
    const Tensor x = g.input("x", DType::f32, {n, 2, 11}), w = g.weight("w", DType::f32, {2, 1, 1});
    g.output("y", conv1d(x, w, {.groups = 2}));
    g.output("z", -g.input("other", DType::f32, {n, 2, 11}));
    return g;
}

TEST(MatchVerifier, ProvesMatchesInUnsimplifiedGraphs) {
    const Graph g = convolution_of_kernel_one();
    const alternatives::EClasses classes(*g.data());
    fusion::MatchVerifier proof(*g.data(), classes, definitions());
    const auto& nodes = g.data()->nodes();
    const auto other = static_cast<ir::NodeId>(std::ranges::find(nodes, "other", &ir::Node::name) - nodes.begin());
    int images = 0;
    for (fusion::Match match : fusion::propose(*g.data(), classes, fusion::patterns_of(definitions(), 4))) {
        EXPECT_EQ(proof.fault(match), "") << to_string(std::vector<fusion::Match>{match});
        if (match.definition != "image_conv1d") continue;
        ++images;
        match.inputs[0] = other;
        EXPECT_NE(proof.fault(match), "") << "of other operands";
    }
    EXPECT_GT(images, 0);
}

TEST(MatchVerifier, EveryMatchHasLaws) {
    std::map<std::string, int> count;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Labelled e(random_model(seed));
        fusion::MatchVerifier proof(*e.expansion.graph, e.expansion.classes, definitions());
        for (const fusion::Match& match : e.matches()) ++count[to_string(proof.laws_of(match))];
    }
    EXPECT_GT(count["exact"], 500);
    EXPECT_GT(count["distributed"], 100);
}

}  // namespace
}  // namespace cairn::test
