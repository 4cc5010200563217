#include "selection/search/search_problem.hpp"

#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::search::test {
namespace {

std::vector<int> list(std::span<const int> goals) { return {goals.begin(), goals.end()}; }

TEST(SearchProblem, StoresItsGoalsAndAlternatives) {
    SearchProblem problem;
    EXPECT_EQ(problem.add_goal(), 0);
    EXPECT_EQ(problem.add_goal(), 1);
    EXPECT_EQ(problem.add_alternative(2, {}, {}), 0);
    EXPECT_EQ(problem.add_goal(), 2);
    EXPECT_EQ(problem.add_alternative(3, {1, 0, 1}, {}), 1);
    EXPECT_EQ(problem.add_alternative(4, {0}, {1}), 2);
    problem.add_root(2);
    EXPECT_EQ(problem.goals(), 3);
    EXPECT_EQ(problem.alternatives(), 3);
    EXPECT_EQ(problem.first(0), 0);
    EXPECT_EQ(problem.first(1), 0);
    EXPECT_EQ(problem.first(2), 1);
    EXPECT_EQ(problem.first(3), 3);
    EXPECT_EQ(list(problem.alternative(1).needs), (std::vector<int>{0, 1})) << "ascending, each once";
    EXPECT_EQ(list(problem.alternative(1).provides), std::vector<int>());
    EXPECT_EQ(list(problem.alternative(2).provides), std::vector<int>{1});
    EXPECT_EQ(problem.goal_of(0), 1);
    EXPECT_EQ(problem.goal_of(1), 2);
    EXPECT_EQ(problem.goal_of(2), 2);
    problem.set_cost(1, 7);
    EXPECT_EQ(problem.alternative(1).cost, 7);
    EXPECT_EQ(fault(problem), "");
    EXPECT_EQ(to_string(problem), "0:\n1: 2 (|)\n2: 7 (0 1|) 4 (0|1)\nroots 2\n");
}

TEST(SearchProblem, AnInducedProblemIsRenumbered) {
    const SearchProblem whole =
        written({{{1}}, {{2}, {3}}, {{4, {0}}}, {{5, {0}, {2}}, {6, {1}, {0}}, {7, {1}, {2}}}}, {3, 1, 0});
    const auto all = [](int) { return true; };
    const InducedProblem same = induced_problem(whole, all, all);
    EXPECT_EQ(to_string(same.problem), to_string(whole));
    EXPECT_EQ(same.choices, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
    std::vector<int> queried;
    const InducedProblem some = induced_problem(
        whole, [](int goal) { return goal != 0; },
        [&](int choice) {
            queried.push_back(choice);
            return choice == 2 || choice == 6;
        });
    EXPECT_EQ(to_string(some.problem), "0: 3 (|)\n1:\n2: 7 (0|1)\nroots 2 0\n");
    EXPECT_EQ(some.choices, (std::vector<int>{2, 6}));
    EXPECT_EQ(queried, (std::vector<int>{1, 2, 3, 4, 5, 6})) << "what no kept goal has is not asked for";
}

TEST(SearchProblem, FaultsAreNamed) {
    EXPECT_EQ(fault(SearchProblem()), "");
    EXPECT_EQ(fault(written({{{1}}}, {0})), "");
    EXPECT_EQ(fault(written({{{1}}, {{NAN}}}, {})), "alternative 1 of goal 1 has a cost that is not finite");
    EXPECT_EQ(fault(written({{{INFINITY}}}, {})), "alternative 0 of goal 0 has a cost that is not finite");
    EXPECT_EQ(fault(written({{{1, {0}}}}, {})), "alternative 0 of goal 0 references a goal that is not lower");
    EXPECT_EQ(fault(written({{}, {{1, {}, {-1}}}}, {})), "alternative 0 of goal 1 references a goal that is not lower");
    EXPECT_EQ(fault(written({{}, {{1, {0}, {0}}}}, {})), "alternative 0 of goal 1 needs what it provides");
    EXPECT_EQ(fault(written({{{1}}}, {1})), "root 1 is not a goal");
    EXPECT_EQ(fault(written({{{1}}}, {-1})), "root -1 is not a goal");
}

}  // namespace
}  // namespace cairn::search::test
