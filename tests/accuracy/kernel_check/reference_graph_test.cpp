#include "cairn/check.hpp"
#include "cairn/ports.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

namespace cairn {
namespace {

using testing::HasSubstr;

Graph reference_text(const std::string& text) {
    const auto symbols = Symbols::create();
    return reference_graph(parse_problem(text, *symbols), Context());
}

std::string refused_problem(const std::string& text) {
    return test::message([&] { reference_text(text); });
}

TEST(ReferenceGraph, IsAGraphOfItsOperands) {
    const std::vector<GraphPort> all =
        ports(reference_text("linear | f32[N,3] f32[3,2]! f32[2]! -> f32[N,2] where N in 1..9"));
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[2].name, "in2");
    EXPECT_EQ(all[3].name, "out0");
    EXPECT_EQ(to_string(all[3].shape), "[N,2]");
}

TEST(ReferenceGraph, RefusesInvalidProblems) {
    EXPECT_THAT(refused_problem("lineal | f32[4] -> f32[4]"), HasSubstr("there is no definition 'lineal'"));
    EXPECT_THAT(refused_problem("matmul | f32[4,4] -> f32[4,4]"), HasSubstr("[matmul]"));
    EXPECT_THAT(refused_problem("matmul | f32[2,3] f32[4,5] -> f32[2,5]"), HasSubstr("inner dims differ"));
    EXPECT_THAT(refused_problem("matmul | f32[2,3] f32[3,5] -> f32[2,6]"),
                HasSubstr("it makes f32[2,5], but the outputs are f32[2,6]"));
    EXPECT_THAT(refused_problem("exp | f32[2]"), HasSubstr("it makes f32[2], but the outputs are none"));
    EXPECT_THAT(refused_problem("exp | f32[2] -> f32[2] f32[2]"), HasSubstr("but the outputs are f32[2] f32[2]"));
    EXPECT_THAT(refused_problem("exp | f32[2] -> f16[2]"), HasSubstr("but the outputs are f16[2]"));
    EXPECT_THAT(refused_problem("softmax axis=(1) | f32[2,3] -> f32[2,3]"), HasSubstr("axes count from the end"));
    EXPECT_THAT(refused_problem("softmax axis=(-3) | f32[2,3] -> f32[2,3]"), HasSubstr("softmax"));
}

}  // namespace
}  // namespace cairn
