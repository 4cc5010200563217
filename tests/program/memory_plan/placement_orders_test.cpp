#include "program/memory_plan/placement_orders.hpp"

#include "tests/program/memory_plan/packing_problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::memory_plan {
namespace {

using ::testing::ElementsAre;

// Live: A B | B C | C D | D, in bytes 110, 130, 32, 2.
class PlacementOrdersTest : public ::testing::Test {
protected:
    const PackingProblem problem_ = testing::problem_of({{10, 0, 0}, {100, 0, 1}, {30, 1, 2}, {2, 2, 9}, {0, 9, 9}});
    const LiveIntervals intervals_{problem_};
    const Sizes sizes_ = sizes_of(problem_, lower_bounds(problem_, intervals_));
    std::vector<int> by(OrderRule rule) const { return order_by(rule, intervals_, sizes_, 0); }
};

TEST_F(PlacementOrdersTest, EachRule) {
    EXPECT_THAT(by(OrderRule::size), ElementsAre(1, 2, 0, 3, 4));
    EXPECT_THAT(by(OrderRule::area), ElementsAre(1, 2, 0, 3, 4));        // 200, 60, 10, 2 * 2 (ticks: 0, 1, 2, 9)
    EXPECT_THAT(by(OrderRule::pressure), ElementsAre(1, 2, 0, 3, 4));    // 130, 130, 110, 32, 2
    EXPECT_THAT(by(OrderRule::duration), ElementsAre(1, 2, 3, 0, 4));    // 2, 2, 2, 1, 1 ticks
    EXPECT_THAT(by(OrderRule::contention), ElementsAre(1, 2, 0, 3, 4));  // 240, 162, 110, 34, 2
    EXPECT_THAT(by(OrderRule::creation), ElementsAre(1, 0, 2, 3, 4));
    EXPECT_THAT(by(OrderRule::ending), ElementsAre(3, 4, 2, 1, 0));
}

TEST(PlacementOrdersOfManyBuffers, PressureIsTheMaximumOfLiveBytes) {
    std::mt19937 random(3);
    const PackingProblem problem = testing::random_problem(random, 40, 60, 1, 1000, 1);
    const LiveIntervals intervals(problem);
    const Sizes sizes = sizes_of(problem, lower_bounds(problem, intervals));
    const auto live = live_bytes(intervals, sizes, 0);
    const auto most = [&](int b) {
        return *std::max_element(live.begin() + intervals.first[b], live.begin() + intervals.last[b] + 1);
    };
    const std::vector<int> order = order_by(OrderRule::pressure, intervals, sizes, 0);
    for (std::size_t k = 1; k < order.size(); ++k) EXPECT_GE(most(order[k - 1]), most(order[k]));
}

}  // namespace
}  // namespace cairn::memory_plan
