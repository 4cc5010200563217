#include "search/asked_sides.hpp"

#include "search/sides.hpp"
#include "tests/search/random_meeting.hpp"
#include "tests/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::search::test {
namespace {

Exploration every_path(const Problem& problem, const Repeat& repeat) {
    Options options;
    options.only_cheapest = false;
    options.repeat = repeat;
    return explore(problem, options);
}

// Two sides that may each read one of two forms: 0 costs 3 to keep and 1 costs 4.5.
const std::vector<int> two_sides{shared, shared, 0, 1};
Problem two_forms() { return written({{{3}}, {{4.5}}, {{1, {0}}, {2, {1}}}, {{3, {0}}, {1, {1}}}}, {2, 3}); }

TEST(AskedSides, EachSideAnswersForItself) {
    const Problem problem = two_forms();
    AskedSides sides(problem, two_sides, {});
    ASSERT_TRUE(sides.add_all(every_path));
    ASSERT_TRUE(sides.tie(true));
    ASSERT_EQ(sides.size(), 2u);
    EXPECT_FALSE(sides.is_tied());
    const Shares halves(sides.shared_goals(), 2);
    Cheapests all(2);
    for (std::size_t side = 0; side < 2; ++side) sides.find_cheapest(side, halves, all);
    EXPECT_EQ(all.costs, (std::vector<double>{2.5, 3.25}));
    EXPECT_EQ(all.own_costs, (std::vector<double>{1, 1}));
    EXPECT_EQ(all.cost(), 5.75);
    EXPECT_EQ(all.takes[0], (std::vector<double>{1, 0}));
    EXPECT_EQ(all.takes[1], (std::vector<double>{0, 1}));
    EXPECT_EQ(sides.above(), (std::vector<double>{0, 0, 0, 1.75, 1.25, 0}));
    EXPECT_EQ(sides.whole_path(all), (std::vector<int>{0, 1, 2, 5}));
}

TEST(AskedSides, ASideWithoutAPathIsTold) {
    const Problem problem = written({{{3}}, {}, {{1, {0}}}}, {1, 2});
    const std::vector<int> side_of{shared, 0, 1};
    AskedSides sides(problem, side_of, {});
    EXPECT_FALSE(sides.add_all(every_path));
}

TEST(AskedSides, WhatWasTiedKeepsItsShares) {
    const auto [problem, side_of] = layers_without_a_form_for_all(3, 8);
    AskedSides sides(problem, side_of, {});
    ASSERT_TRUE(sides.add_all(every_path));
    ASSERT_TRUE(sides.tie(true));
    ASSERT_TRUE(sides.is_tied());
    const std::size_t tied = sides.shared_goals().size();
    const Shares shares(sides.shared_goals(), sides.size());
    Cheapests before(sides.size()), after(sides.size());
    for (std::size_t side = 0; side < sides.size(); ++side) sides.find_cheapest(side, shares, before);
    const Shares own = sides.untied(shares);
    EXPECT_FALSE(sides.is_tied());
    EXPECT_GT(sides.shared_goals().size(), tied);
    for (std::size_t side = 0; side < sides.size(); ++side) {
        sides.find_cheapest(side, own, after);
        EXPECT_NEAR(after.costs[side], before.costs[side], 1e-9);
    }
}

// Blocks that are not there count in all that is asked.
TEST(AskedSides, BlocksThatAreNotThereCount) {
    const auto [problem, side_of] = layers_without_a_form_for_all(5, 16);
    const Folded few = folded(problem, side_of, repeat_in(problem, side_of), 6);
    ASSERT_TRUE(few.repeat.any());
    AskedSides whole(problem, side_of, {}), part(few.problem, few.side_of, few.repeat);
    Cheapests of_whole(3), of_part(3);
    for (auto [sides, all] : {std::pair(&whole, &of_whole), std::pair(&part, &of_part)}) {
        ASSERT_TRUE(sides->add_all(every_path));
        ASSERT_TRUE(sides->tie(true));
        const Shares shares(sides->shared_goals(), 3);
        for (std::size_t side = 0; side < 3; ++side) sides->find_cheapest(side, shares, *all);
    }
    for (std::size_t side = 0; side < 3; ++side) {
        EXPECT_NEAR(of_part.costs[side], of_whole.costs[side], 1e-9);
        EXPECT_NEAR(of_part.own_costs[side], of_whole.own_costs[side], 1e-9);
    }
    double path_cost = 0;
    for (const int choice : part.whole_path(of_part)) path_cost += problem.cost(choice);
    double same = 0;
    for (const int choice : whole.whole_path(of_whole)) same += problem.cost(choice);
    EXPECT_NEAR(path_cost, same, 1e-9);
}

}  // namespace
}  // namespace cairn::search::test
