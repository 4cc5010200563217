#include "selection/search/cost_classes.hpp"

#include "selection/search/decomposition.hpp"
#include "selection/search/explore.hpp"
#include "tests/selection/search/random_decomposition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace cairn::search::test {
namespace {

TEST(CostClasses, ARenamedChoiceHasAnOriginal) {
    PathDag dag;
    dag.add_renaming({{0, 2}, {1, 3}});
    dag.add_renaming({{0, 4}, {1, 5}});
    EXPECT_EQ(originals_of(dag, 7), (std::vector<int>{0, 1, 0, 1, 0, 1, 6}));
}

TEST(CostClasses, AChoiceWithSeveralOriginalsHasNone) {
    PathDag dag;
    dag.add_renaming({{0, 2}, {1, 3}});
    dag.add_renaming({{1, 2}});
    EXPECT_EQ(originals_of(dag, 4), (std::vector<int>{0, 1, 2, 1}));
}

// Shared goals 0 to 3; each subproblem has a choice for each of them, then one of its own.
TEST(CostClasses, GoalsAtEqualPositionsInAllSubproblemsAreTied) {
    const SubproblemChoices one{{5, 5, 5, 5, 1}, {0, 1, 2, 3, -1}, {0, 0, 0, 0, 4}};
    const SubproblemChoices two{{5, 5, 5, 5, 2}, {0, 1, 2, 3, -1}, {0, 0, 2, 2, 4}};
    const CostClasses classes = cost_classes_of(std::vector{one, two});
    ASSERT_EQ(classes.goals.size(), 2);
    EXPECT_TRUE(classes.any());
    for (const SharedGoal& goal : classes.goals) {
        EXPECT_EQ(goal.count, 2);
        EXPECT_EQ(goal.cost, 5);
        EXPECT_EQ(goal.at.size(), 2);
    }
    EXPECT_EQ(classes.cost_classes, (std::vector<std::vector<int>>{{0, 0, 1, 1, 2}, {0, 0, 1, 1, 2}}));
    EXPECT_EQ(classes.costs, (std::vector<std::vector<double>>{{5, 5, 1}, {5, 5, 2}}));
}

TEST(CostClasses, GoalsOfDifferentCostOrFewerSubproblemsAreNotTied) {
    const SubproblemChoices one{{5, 6, 5}, {0, 1, 2}, {0, 0, 0}}, two{{5, 6}, {0, 1}, {0, 0}};
    const CostClasses classes = cost_classes_of(std::vector{one, two});
    EXPECT_EQ(classes.goals.size(), 3);
    EXPECT_FALSE(classes.any());
}

TEST(CostClasses, OtherChoicesOfEqualCostHaveOneClass) {
    const CostClasses classes =
        cost_classes_of(std::vector{SubproblemChoices{{1, 1, 2, 1}, {-1, -1, -1, -1}, {0, 0, 0, 3}}});
    EXPECT_TRUE(classes.goals.empty());
    EXPECT_EQ(classes.cost_classes, (std::vector<std::vector<int>>{{0, 0, 1, 2}}));
}

// Tied goals cost the same at all shares, as do choices of one class; layers of random problems have ties unless one of
// them differs.
TEST(CostClasses, AreFoundInEqualLayers) {
    int with_ties = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const auto [problem, subproblem_of] = layered_decomposition(seed);
        std::vector<SubproblemChoices> subproblems;
        for (int subproblem = 0; subproblem <= *std::max_element(subproblem_of.begin(), subproblem_of.end());
             ++subproblem) {
            const auto is_its = [&](int goal) {
                const int own = subproblem_of[static_cast<std::size_t>(goal)];
                return own == subproblem || own == shared;
            };
            const InducedProblem own = induced_problem(problem, is_its, [](int) { return true; });
            const Exploration found = explore(own.problem, {.only_cheapest = false});
            SubproblemChoices& choices = subproblems.emplace_back();
            choices.originals = originals_of(found.dag, own.choices.size());
            for (const int choice : own.choices) {
                const int goal = problem.goal_of(choice);
                choices.costs.push_back(problem.cost(choice));
                choices.goals.push_back(subproblem_of[static_cast<std::size_t>(goal)] == shared ? goal : -1);
            }
        }
        const CostClasses classes = cost_classes_of(subproblems);
        with_ties += classes.any();
        int goals = 0;
        for (const SharedGoal& goal : classes.goals) goals += goal.count;
        EXPECT_EQ(goals, std::count(subproblem_of.begin(), subproblem_of.end(), shared));
        for (std::size_t s = 0; s < subproblems.size(); ++s)
            for (std::size_t c = 0; c < subproblems[s].costs.size(); ++c)
                EXPECT_EQ(classes.costs[s][static_cast<std::size_t>(classes.cost_classes[s][c])],
                          subproblems[s].costs[c]);
    }
    EXPECT_GT(with_ties, 30);
}

}  // namespace
}  // namespace cairn::search::test
