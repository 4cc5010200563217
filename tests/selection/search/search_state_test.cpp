#include "selection/search/search_state.hpp"

#include "selection/search/scc.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

namespace cairn::search::test {
namespace {

bool any(int) { return true; }

TEST(SearchState, AStateContainsEachGoalOnceInDescendingOrder) {
    State codes;
    add_goal(codes, 3, false);
    add_goal(codes, 7, false);
    add_goal(codes, 0, false);
    add_goal(codes, 3, false);
    EXPECT_EQ(codes, state({pending(7), pending(3), pending(0)}));
}

TEST(SearchState, AProvidedGoalStaysProvided) {
    State codes;
    add_goal(codes, 3, false);
    EXPECT_FALSE(is_provided(codes, 3));
    add_goal(codes, 3, true);
    add_goal(codes, 3, false);
    add_goal(codes, 5, false);
    EXPECT_EQ(codes, state({pending(5), provided(3)}));
    EXPECT_TRUE(is_provided(codes, 3));
    EXPECT_FALSE(is_provided(codes, 5));
    EXPECT_FALSE(is_provided({}, 0));
}

TEST(SearchState, AChoiceAddsItsNeedsAndProvidedGoals) {
    const SearchProblem problem = written({{{1}}, {{1}}, {{1, {0}, {1}}, {1, {1}}}}, {2});
    StateTransitions steps(problem, no_sccs(problem));
    State next;
    EXPECT_TRUE(steps.choose(state({pending(2)}), 2, 2, next, any));
    EXPECT_EQ(next, state({provided(1), pending(0)}));
    EXPECT_TRUE(steps.choose(state({pending(2), pending(1)}), 2, 2, next, any));
    EXPECT_EQ(next, state({provided(1), pending(0)}));
    EXPECT_FALSE(steps.choose(state({pending(2), provided(1)}), 2, 2, next, any)) << "a value has one maker";
    EXPECT_TRUE(steps.choose(state({pending(2), provided(1)}), 2, 3, next, any));
    EXPECT_EQ(next, state({provided(1)}));
    EXPECT_TRUE(steps.choose({}, 2, 3, next, [](int) { return false; }));
    EXPECT_EQ(next, state({})) << "pending in all states alike";
    steps.pass(state({provided(1), pending(0)}), next);
    EXPECT_EQ(next, state({pending(0)}));
}

TEST(SearchState, NoGoalDependsOnItself) {
    // 3 provides 0 and needs 1 or 2; 1 needs 0, 2 needs 1, each or not.
    const SearchProblem problem = written({{{1}}, {{1, {0}}, {1}}, {{1, {1}}, {1}}, {{1, {2}, {0}}}}, {3});
    const std::vector<int> sccs = scc_of_goals(problem);
    StateTransitions steps(problem, sccs);
    State after_3, after_2, next;
    ASSERT_TRUE(steps.choose(state({pending(3)}), 3, 5, after_3, any));
    EXPECT_EQ(codes_of(after_3), state({pending(2), provided(0)}));
    ASSERT_TRUE(steps.choose(after_3, 2, 3, after_2, any));
    EXPECT_EQ(codes_of(after_2), state({pending(1), provided(0)}));
    EXPECT_FALSE(steps.choose(after_2, 1, 1, next, any)) << "1 would need 0, whose maker needs 1";
    EXPECT_TRUE(steps.choose(after_2, 1, 2, next, any));
    EXPECT_EQ(next, state({provided(0)}));
    ASSERT_TRUE(steps.choose(after_3, 2, 4, after_2, any));
    EXPECT_EQ(after_2, state({provided(0)})) << "nothing it needs is pending";
}

TEST(SearchState, AComponentKeepsTheDependencesOfItsGoals) {
    const SearchProblem problem = written({{{1}}, {{1, {0}}}, {{1, {1}, {0}}}, {{1}}}, {2, 3});
    const std::vector<int> sccs = scc_of_goals(problem);
    StateTransitions steps(problem, sccs);
    State whole, part, others, next;
    ASSERT_TRUE(steps.choose(state({pending(2)}), 2, 2, whole, any));
    ASSERT_FALSE(steps.choose(whole, 1, 1, next, any));
    whole.insert(whole.begin(), pending(3));
    steps.split(
        whole, [](int goal) { return goal != 3; }, part, others);
    EXPECT_EQ(others, state({pending(3)}));
    EXPECT_EQ(part, whole.substr(1));
    EXPECT_FALSE(steps.choose(part, 1, 1, next, any));
}

}  // namespace
}  // namespace cairn::search::test
