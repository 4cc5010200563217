#include "cairn/cairn.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(WhyNot, OfAGivenTensor) {
    const Context context;
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 8});
    EXPECT_EQ(why_not(softmax(x), "softmax", context), "");
    EXPECT_NE(why_not(exp(x) / sum(exp(x), {-2}, true) + 1, "softmax", context), "");
    EXPECT_THROW(why_not(Tensor(), "softmax", context), Error);
    const std::string unknown = message([&] { why_not(softmax(x), "softmix", context); });
    EXPECT_THAT(unknown, testing::StartsWith("[why_not] there is no definition softmix: there are "));
    EXPECT_THAT(unknown, testing::HasSubstr(", layer_norm, "));
}

TEST(WhyNot, OfAGraphNamesTheClosestValue) {
    const Context context;
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 8});
    const Tensor e = exp(x);
    g.output("y", e / (sum(e, {-1}, true) + 1));
    const std::string line = std::to_string(__LINE__ - 1);
    EXPECT_THAT(why_not(g, "softmax", context), testing::EndsWith(" (why_not_test.cpp:" + line + ")"));
    g.output("z", softmax(x));
    EXPECT_EQ(why_not(g, "softmax", context), "");
    EXPECT_THROW(why_not(g, "softmix", context), Error);
    EXPECT_EQ(why_not(Graph("empty"), "softmax", context), "the graph has no values");
}

}  // namespace
}  // namespace cairn::test
