#include "search/ties.hpp"

#include "search/explore.hpp"
#include "search/sides.hpp"
#include "tests/search/random_meeting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace cairn::search::test {
namespace {

TEST(Ties, ANameStandsForItsOriginal) {
    Space space;
    space.rename({{0, 2}, {1, 3}});
    space.rename({{0, 4}, {1, 5}});
    EXPECT_EQ(originals_of(space, 7), (std::vector<int>{0, 1, 0, 1, 0, 1, 6}));
}

TEST(Ties, WhatStandsForSeveralIsLikeNone) {
    Space space;
    space.rename({{0, 2}, {1, 3}});
    space.rename({{1, 2}});
    EXPECT_EQ(originals_of(space, 4), (std::vector<int>{0, 1, 2, 1}));
}

// Shared goals 0 to 3; each side has a choice for each of them and one of its own behind.
TEST(Ties, GoalsAreTiedThatStandInTheSamePlacesInAllSides) {
    const SideChoices one{{5, 5, 5, 5, 1}, {0, 1, 2, 3, -1}, {0, 0, 0, 0, 4}};
    const SideChoices two{{5, 5, 5, 5, 2}, {0, 1, 2, 3, -1}, {0, 0, 2, 2, 4}};
    const Ties ties = ties_of(std::vector{one, two});
    ASSERT_EQ(ties.goals.size(), 2);
    EXPECT_TRUE(ties.any());
    for (const SharedGoal& goal : ties.goals) {
        EXPECT_EQ(goal.count, 2);
        EXPECT_EQ(goal.cost, 5);
        EXPECT_EQ(goal.at.size(), 2);
    }
    EXPECT_EQ(ties.kinds, (std::vector<std::vector<int>>{{0, 0, 1, 1, 2}, {0, 0, 1, 1, 2}}));
    EXPECT_EQ(ties.costs, (std::vector<std::vector<double>>{{5, 5, 1}, {5, 5, 2}}));
}

TEST(Ties, GoalsThatCostSomethingElseOrStandInFewerSidesAreNotTied) {
    const SideChoices one{{5, 6, 5}, {0, 1, 2}, {0, 0, 0}}, two{{5, 6}, {0, 1}, {0, 0}};
    const Ties ties = ties_of(std::vector{one, two});
    EXPECT_EQ(ties.goals.size(), 3);
    EXPECT_FALSE(ties.any());
}

TEST(Ties, OtherChoicesAreOfOneKindWhereTheyCostTheSame) {
    const Ties ties = ties_of(std::vector{SideChoices{{1, 1, 2, 1}, {-1, -1, -1, -1}, {0, 0, 0, 3}}});
    EXPECT_TRUE(ties.goals.empty());
    EXPECT_EQ(ties.kinds, (std::vector<std::vector<int>>{{0, 0, 1, 2}}));
}

// What is tied costs the same whatever its shares are, as does all that is of one kind; layers of random problems have
// ties unless one of them differs.
TEST(Ties, AreFoundInEqualLayers) {
    int with_ties = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const auto [problem, side_of] = layered_meeting(seed);
        std::vector<SideChoices> sides;
        for (int side = 0; side <= *std::max_element(side_of.begin(), side_of.end()); ++side) {
            const auto is_its = [&](int goal) {
                const int own = side_of[static_cast<std::size_t>(goal)];
                return own == side || own == shared;
            };
            const Excerpt own = excerpt_of(problem, is_its, [](int) { return true; });
            const Exploration found = explore(own.problem, {.only_cheapest = false});
            SideChoices& choices = sides.emplace_back();
            choices.originals = originals_of(found.space, own.choices.size());
            for (const int choice : own.choices) {
                const int goal = problem.goal_of(choice);
                choices.costs.push_back(problem.cost(choice));
                choices.goals.push_back(side_of[static_cast<std::size_t>(goal)] == shared ? goal : -1);
            }
        }
        const Ties ties = ties_of(sides);
        with_ties += ties.any();
        int goals = 0;
        for (const SharedGoal& goal : ties.goals) goals += goal.count;
        EXPECT_EQ(goals, std::count(side_of.begin(), side_of.end(), shared));
        for (std::size_t s = 0; s < sides.size(); ++s)
            for (std::size_t c = 0; c < sides[s].costs.size(); ++c)
                EXPECT_EQ(ties.costs[s][static_cast<std::size_t>(ties.kinds[s][c])], sides[s].costs[c]);
    }
    EXPECT_GT(with_ties, 30);
}

}  // namespace
}  // namespace cairn::search::test
