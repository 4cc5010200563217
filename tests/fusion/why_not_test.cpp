#include "fusion/why_not.hpp"

#include "cairn/composites.hpp"
#include "rewrite/simplify/simplify.hpp"
#include "tests/fusion/match_check.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

std::string why(const Tensor& value, std::string_view name) {
    ir::GraphData graph = *value.graph();
    graph.add_output("y", value.id());
    const simplify::Simplified simple = simplify::simplify(graph);
    return fusion::why_not(*simple.graph, *simple.map[value.id()], definitions(), name);
}

TEST(WhyNot, NamesTheMissingOps) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 8}), w = g.weight("w", DType::f32, {8});
    EXPECT_EQ(why(rms_norm(x, w, 0.5), "rms_norm"), "");
    EXPECT_EQ(why(rms_norm(x, w, 0.5), "softmax"), "softmax computes exp, x^-1, the value does not");
    EXPECT_EQ(why(x, "softmax"), "the value is given, nothing computes it");
    EXPECT_EQ(why(x / sum(exp(x), {-1}, true) + exp(w), "softmax"),
              "by its normal form the value is a sum, softmax is a product");
    EXPECT_THROW(why(x, "soft"), Error);
}

TEST(WhyNot, NamesTheMissingValue) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 8}), w = g.weight("w", DType::f32, {8});
    const std::string cubes = why(x * rsqrt(mean(x * x * x, {-1}, true) + 0.5) * w, "rms_norm");
    EXPECT_NE(cubes.find("`sum axes=(-1)` to f32[3,1] is not computed here"), cubes.npos) << cubes;
    const std::string halves = why(softmax(x) * 0.5, "softmax");
    EXPECT_NE(halves.find("the value has other numbers"), halves.npos) << halves;
}

}  // namespace
}  // namespace cairn::test
