#include "fusion/fusible_matches.hpp"

#include "cairn/composites.hpp"
#include "tests/fusion/match_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::test {
namespace {

struct Operands {
    Graph g{"g"};
    Tensor x = g.input("x", DType::f32, {3, 4}), w = g.weight("w", DType::f32, {4, 5}),
           b = g.weight("b", DType::f32, {5}), r = g.input("r", DType::f32, {3, 5});
    Tensor product() const { return matmul(x, w); }
};

// The fused bodies that compute the output "y", by their steps.
std::vector<std::string> epilogues(const Graph& graph) {
    const Proposed p = proposed(graph);
    EXPECT_EQ(fault_in_matches(p, 1), "");
    std::vector<std::string> found;
    for (const fusion::Match& match : p.matches)
        if (match.definition == "fused" && match.outputs.back() == p.graph->outputs().back().node)
            found.push_back(definition_text(match));
    std::sort(found.begin(), found.end());
    return found;
}

using List = std::vector<std::string>;

TEST(FusibleMatches, AnyElementwiseOpFusesWithAProduct) {
    Operands o;
    const Tensor active = gelu(o.product() + o.b), is_positive = o.r > 0.0;
    const Tensor scaled = where(is_positive, active * 0.5, o.r);
    o.g.output("y", cast(tanh(scaled) + o.r, DType::f16));
    EXPECT_EQ(epilogues(o.g), (List{"fused matmul add const const gelu gt mul where tanh add cast"}));
}

TEST(FusibleMatches, ACompositeStepReplacesItsOps) {
    Operands o;
    o.g.output("y", silu(o.product()) * o.r);
    EXPECT_EQ(epilogues(o.g), (List{"fused matmul silu mul"}));
}

TEST(FusibleMatches, AnotherNumberIsAnotherBody) {
    Operands o;
    const Tensor p = o.product();
    o.g.output("y", p * sigmoid(1.702 * p));
    EXPECT_EQ(epilogues(o.g), (List{"fused matmul const mul sigmoid mul"}));
}

TEST(FusibleMatches, AProductIsNeverComputedTwice) {
    Operands o;
    const Tensor sum = o.product() + o.b;
    o.g.output("max", max_reduce(sum, {-1}));
    o.g.output("y", tanh(sum) * o.r);
    EXPECT_EQ(epilogues(o.g), List{});
}

TEST(FusibleMatches, OneProductIsTheAnchorAndOthersAreOperands) {
    Operands o;
    o.g.output("y", tanh(o.product() + matmul(o.x, o.g.weight("v", DType::f32, {4, 5}))));
    EXPECT_EQ(epilogues(o.g), (List{"fused matmul add tanh"}));
}

TEST(FusibleMatches, ProductsOfTwoBatchedOperandsAreNotFused) {
    Operands o;
    const Tensor a = o.g.input("a", DType::f32, {2, 3, 4}), c = o.g.input("c", DType::f32, {2, 4, 5});
    o.g.output("y", tanh(matmul(a, c)));
    EXPECT_EQ(epilogues(o.g), List{});
}

TEST(FusibleMatches, AViewOfAProductIsAnAnchor) {
    Operands o;
    const Tensor x = o.g.input("z", DType::f32, {2, 3, 4});
    o.g.output("y", tanh(reshape(matmul(reshape(x, {6, 4}), o.w), {2, 3, 5}) + o.b) + 1);
    EXPECT_EQ(epilogues(o.g), (List{"fused matmul add const tanh add"}));
}

}  // namespace
}  // namespace cairn::test
