#include "selection/search/cost_shares.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cairn::search {
namespace {

double sum_of(const CostShares& shares, const SharedGoal& goal) {
    double sum = 0;
    for (const auto& [subproblem, position] : goal.at) sum += shares.of(subproblem, position);
    return sum;
}

TEST(CostShares, AreEqualAtFirst) {
    const CostShares shares({{6, {{0, 0}, {1, 0}, {2, 0}}}, {5, {{1, 1}}}}, 3);
    for (const std::size_t subproblem : {0, 1, 2}) EXPECT_EQ(shares.of(subproblem, 0), 2);
    EXPECT_EQ(shares.of(1, 1), 5);
}

TEST(CostShares, MoveToTheSubproblemThatUsesTheGoal) {
    const std::vector<SharedGoal> goals{{4, {{0, 0}, {1, 0}}}};
    CostShares shares(goals, 2);
    // One is half above the mean, one half below: a step of 0.5 gains 2 * 0.5 * 0.5 for each unit of cost.
    EXPECT_TRUE(shares.move(goals, {{true}, {false}}, 0.5));
    EXPECT_DOUBLE_EQ(shares.of(0, 0), 2.5);
    EXPECT_DOUBLE_EQ(shares.of(1, 0), 1.5);
    EXPECT_TRUE(shares.move(goals, {{true}, {false}}, 100));
    EXPECT_EQ(shares.of(0, 0), 4);
    EXPECT_EQ(shares.of(1, 0), 0) << "none is below 0";
    EXPECT_FALSE(shares.move(goals, {{true}, {true}}, 1)) << "all take it";
    EXPECT_FALSE(shares.move(goals, {{false}, {false}}, 1)) << "no subproblem does";
    EXPECT_FALSE(shares.move(goals, {{true}, {false}}, 0));
    EXPECT_EQ(shares.of(0, 0), 4);
}

TEST(CostShares, OfEachGoalAddUpToItsCost) {
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        const std::size_t subproblems = 1 + random() % 4;
        std::vector<SharedGoal> goals(1 + random() % 5);
        std::vector<std::size_t> position_counts(subproblems, 0);
        for (SharedGoal& goal : goals) {
            goal.cost = static_cast<double>(random() % 5);
            for (std::size_t subproblem = 0; subproblem < subproblems; ++subproblem)
                if (random() % 3 != 0) goal.at.emplace_back(subproblem, position_counts[subproblem]++);
        }
        CostShares shares(goals, subproblems);
        for (int step = 0; step < 6; ++step) {
            SharedGoalUsage usage;
            for (std::size_t subproblem = 0; subproblem < subproblems; ++subproblem) {
                usage.emplace_back();
                for (std::size_t position = 0; position < position_counts[subproblem]; ++position)
                    usage.back().push_back(random() % 2 == 0);
            }
            shares.move(goals, usage, static_cast<double>(random() % 10));
            for (const SharedGoal& goal : goals) {
                if (goal.at.empty()) continue;
                EXPECT_NEAR(sum_of(shares, goal), goal.cost, 1e-12);
                for (const auto& [subproblem, position] : goal.at) EXPECT_GE(shares.of(subproblem, position), 0);
            }
        }
    }
}

TEST(CostShares, AreMarginalForOneSubproblem) {
    const std::vector<SharedGoal> goals{{4, {{0, 0}, {1, 0}}}, {3, {{0, 1}, {1, 1}}}, {9, {{0, 2}, {1, 2}}}};
    CostShares shares(goals, 2);
    shares.set_marginal_shares(goals, 0, {{true, false, false}, {false, true, true}}, 9);
    EXPECT_EQ(shares.of(0, 0), 4) << "that it takes it itself is nothing";
    EXPECT_EQ(shares.of(0, 1), 0);
    EXPECT_EQ(shares.of(0, 2), 9) << "it is to be avoided";
    EXPECT_EQ(shares.of(1, 0), 2) << "the other's are as they were";
}

// The same as moving each of the tied goals by the mean of all.
TEST(CostShares, OfTiedGoalsMoveTogether) {
    const std::vector<SharedGoal> tied{{4, {{0, 0}, {1, 0}}, 2}}, apart{{4, {{0, 0}, {1, 0}}}, {4, {{0, 1}, {1, 1}}}};
    CostShares of_tied(tied, 2), of_each(apart, 2);
    EXPECT_TRUE(of_tied.move(tied, {{1}, {0.5}}, 0.25));
    EXPECT_TRUE(of_each.move(apart, {{1, 1}, {0.5, 0.5}}, 0.25));
    EXPECT_GT(of_tied.of(0, 0), 2);
    for (const std::size_t subproblem : {0, 1})
        for (const std::size_t position : {0, 1})
            EXPECT_DOUBLE_EQ(of_tied.of(subproblem, 0), of_each.of(subproblem, position));
    of_tied.set_marginal_shares(tied, 0, {{1}, {0.5}}, 9);
    EXPECT_EQ(of_tied.of(0, 0), 2) << "the other side takes one of two";
}

}  // namespace
}  // namespace cairn::search
