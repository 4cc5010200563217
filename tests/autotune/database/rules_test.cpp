#include "autotune/database/rules.hpp"

#include <gtest/gtest.h>

namespace cairn::autotune {
namespace {

TEST(RulePatterns, MatchEntireTexts) {
    EXPECT_TRUE(matches("*", ""));
    EXPECT_TRUE(matches("", ""));
    EXPECT_FALSE(matches("", "a"));
    EXPECT_FALSE(matches("?", ""));
    EXPECT_TRUE(matches("cpu.*.eigen.*", "cpu.avx2.eigen.matmul.f32@1"));
    EXPECT_FALSE(matches("eigen", "cpu.avx2.eigen.matmul.f32@1"));
    EXPECT_TRUE(matches("*@1", "k@1"));
    EXPECT_FALSE(matches("*@1", "k@11"));
    EXPECT_TRUE(matches("*@1", "k@1@1")) << "the first star is not content with the first @1";
    EXPECT_TRUE(matches("a*b*c", "aXbXbXc"));
    EXPECT_FALSE(matches("a*b*c", "aXcXb"));
    EXPECT_TRUE(matches("matmul | f32[?,*", "matmul | f32[1,8] f32[8,8] -> f32[1,8]"));
    EXPECT_FALSE(matches("matmul | f32[?,*", "matmul | f32[12,8] f32[8,8] -> f32[12,8]")) << "brackets are no sets";
    EXPECT_TRUE(matches("a**", "a"));
}

TEST(RulePatterns, RulesMatchByKernelAndProblem) {
    const KernelRule rule{"k@?", "exp *", RuleAction::ban, ""};
    EXPECT_TRUE(rule.covers("k@1", "exp | f32[4] -> f32[4]"));
    EXPECT_FALSE(rule.covers("k@12", "exp | f32[4] -> f32[4]"));
    EXPECT_FALSE(rule.covers("k@1", "log | f32[4] -> f32[4]"));
    EXPECT_EQ(to_string(RuleAction::ban), "ban");
    EXPECT_EQ(to_string(RuleAction::pin), "pin");
}

TEST(Rules, TheLatestOfTwoForEqualPatternsApplies) {
    const KernelRule ban{"a", "b", RuleAction::ban, "first"}, pin{"a", "b", RuleAction::pin, "second"},
        other{"a", "c", RuleAction::ban, ""};
    EXPECT_EQ(rules_in_force({{ban, false, 1}, {pin, false, 2}, {other, false, 1}}), (std::vector{pin, other}));
    EXPECT_EQ(rules_in_force({{pin, false, 2}, {ban, false, 1}}), std::vector{pin});
    EXPECT_TRUE(rules_in_force({{ban, true, 3}, {pin, false, 2}, {ban, false, 1}}).empty());
    EXPECT_EQ(rules_in_force({{ban, true, 2}, {ban, false, 3}}), std::vector{ban});
}

}  // namespace
}  // namespace cairn::autotune
