#include "select/reduce.hpp"

#include "cairn/error.hpp"

#include <gtest/gtest.h>

namespace cairn::select {
namespace {

// That the optimum stays what it was, brute force shows in frontier_test.cpp.

TEST(Reduce, AChainBecomesOneGoalThatKnowsAllItsChoices) {
    SearchProblem problem;
    problem.goals = {{{1, {}, {}}}, {{9, {0}, {}}, {2, {0}, {}}}, {{4, {1}, {}}}};
    problem.roots = {2};
    const Reduction reduction = reduce(problem);
    ASSERT_EQ(reduction.problem.goals.size(), 1U);
    ASSERT_EQ(reduction.problem.goals[0].size(), 1U);
    EXPECT_DOUBLE_EQ(reduction.problem.goals[0][0].cost, 7);
    EXPECT_EQ(reduction.problem.roots, std::vector<int>{0});
    std::vector<int> choice(3, -1);
    reduction.decide(0, 0, choice);
    EXPECT_EQ(choice, (std::vector<int>{0, 1, 0}));
}

TEST(Reduce, OfEqualAlternativesTheFirstStays) {
    SearchProblem problem;
    problem.goals = {{{3, {}, {}}, {3, {}, {}}, {3, {}, {}}}};
    problem.roots = {0};
    const Reduction reduction = reduce(problem);
    ASSERT_EQ(reduction.problem.goals[0].size(), 1U);
    std::vector<int> choice(1, -1);
    reduction.decide(0, 0, choice);
    EXPECT_EQ(choice, std::vector<int>{0});
}

/// How many alternatives the top goal keeps, where 0 and 1 are needed for themselves.
std::size_t kept(const std::vector<Alternative>& top, const std::vector<Alternative>& middle = {{1, {}, {}}}) {
    SearchProblem problem;
    problem.goals = {{{1, {}, {}}}, middle, top};
    problem.roots = {0, 1, 2};
    return reduce(problem).problem.goals[2].size();
}

TEST(Reduce, AnAlternativeIsBeatenByACheaperOneThatNeedsNoMore) {
    EXPECT_EQ(kept({{2, {0}, {}}, {3, {0, 1}, {}}}), 1U);
    EXPECT_EQ(kept({{3, {0, 1}, {}}, {2, {0}, {}}}), 1U) << "in either order";
    EXPECT_EQ(kept({{3, {0}, {}}, {2, {0, 1}, {}}}), 2U) << "cheaper for one more need";
    EXPECT_EQ(kept({{2, {0}, {}}, {2, {1}, {}}}), 2U) << "other needs";
    EXPECT_EQ(kept({{2, {}, {}}, {3, {}, {0}}}), 2U) << "dearer, but it brings something";
    // The need of the dearer one may bring goal 0 with it.
    EXPECT_EQ(kept({{2, {}, {}}, {3, {1}, {}}}, {{1, {}, {0}}}), 2U);
}

TEST(Reduce, WhatSeveralNeedOrARootIsStaysAGoal) {
    SearchProblem problem;
    problem.goals = {{{1, {}, {}}}, {{1, {0}, {}}}, {{1, {0}, {}}}, {{1, {1, 2}, {}}}};
    problem.roots = {3};
    EXPECT_EQ(reduce(problem).problem.goals.size(), 1U) << "once 1 and 2 are in 3, 0 has one user";
    problem.roots = {3, 1};
    EXPECT_EQ(reduce(problem).problem.goals.size(), 3U);
}

TEST(Reduce, AGoalIsTakenInUpToANumberOfAlternatives) {
    // Every pair of alternatives differs in what it needs, so none is beaten.
    const auto goals_with = [](int each) {
        SearchProblem problem;
        std::vector<Alternative> low, high;
        for (int i = 0; i < each; ++i) {
            problem.goals.push_back({{1, {}, {}}});
            problem.goals.push_back({{1, {}, {}}});
            problem.roots.push_back(2 * i);
            problem.roots.push_back(2 * i + 1);
            low.push_back({1, {2 * i}, {}});
            high.push_back({1, {2 * i + 1, 2 * each}, {}});
        }
        problem.goals.push_back(low);
        problem.goals.push_back(high);
        problem.roots.push_back(2 * each + 1);
        return reduce(problem).problem.goals.size() - static_cast<std::size_t>(2 * each);
    };
    EXPECT_EQ(goals_with(8), 1U);
    EXPECT_EQ(goals_with(9), 2U);
}

TEST(Reduce, WhatIsReachable) {
    SearchProblem problem;
    // 0 comes along with 3 alone, 1 rests on it, 2 on nothing that exists.
    problem.goals = {{}, {{1, {0}, {}}}, {}, {{1, {}, {0}}}, {{1, {2}, {}}}};
    EXPECT_EQ(reachable_goals(problem), (std::vector<bool>{true, true, false, true, false}));
    EXPECT_TRUE(reachable_goals({}).empty());
    problem.roots = {4};
    EXPECT_THROW(reduce(problem), Error);
}

TEST(Reduce, NoGoalsAndNoRootsAreNothing) {
    EXPECT_TRUE(reduce({}).problem.goals.empty());
    SearchProblem unused;
    unused.goals = {{{1, {}, {}}}};
    EXPECT_TRUE(reduce(unused).problem.goals.empty());
}

TEST(Reduce, Stops) {
    SearchProblem problem;
    problem.goals = {{{1, {}, {}}}};
    problem.roots = {0};
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(reduce(problem, stop.get_token()), Cancelled);
}

}  // namespace
}  // namespace cairn::select
