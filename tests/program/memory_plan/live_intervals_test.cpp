#include "program/memory_plan/live_intervals.hpp"

#include "tests/program/memory_plan/packing_problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::memory_plan {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TEST(LiveIntervals, TicksAreTheStarts) {
    const LiveIntervals intervals(testing::problem_of({{1, 10, 20}, {1, 15, 15}, {1, 30, 90}, {1, 10, 10}}));
    EXPECT_EQ(intervals.ticks, 3);
    EXPECT_THAT(intervals.first, ElementsAre(0, 1, 2, 0));
    EXPECT_THAT(intervals.last, ElementsAre(1, 1, 2, 0));
    EXPECT_THAT(intervals.by_first, ElementsAre(0, 3, 1, 2));
}

TEST(LiveIntervals, OverlapIsPreserved) {
    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round) {
        const PackingProblem problem = testing::random_problem(random, 20, 30, 1, 100, 1);
        const LiveIntervals intervals(problem);
        for (int a = 0; a < 20; ++a) {
            for (int b = 0; b < 20; ++b) {
                EXPECT_EQ(intervals.overlap(a, b), testing::alive_together(problem.buffers[a], problem.buffers[b]));
            }
        }
    }
}

TEST(LiveIntervals, ConflictsAreTheOverlaps) {
    const LiveIntervals intervals(testing::problem_of({{1, 0, 2}, {1, 2, 4}, {1, 4, 6}, {1, 3, 3}}));
    Conflicts conflicts(intervals);
    EXPECT_THAT(conflicts.of(0), UnorderedElementsAre(1));
    EXPECT_THAT(conflicts.of(1), UnorderedElementsAre(0, 2, 3));
    EXPECT_THAT(conflicts.of(2), UnorderedElementsAre(1));
    EXPECT_THAT(conflicts.of(3), UnorderedElementsAre(1));
    EXPECT_EQ(conflicts.count(1), 3U);
}

// Few conflicts are stored for all buffers, many are computed on demand.
TEST(LiveIntervals, ConflictsAreTheOverlapsInOrderOfTheirStarts) {
    std::mt19937 random(2);
    for (const auto& [buffers, instructions] : {std::pair(300, 900), std::pair(1, 1), std::pair(3000, 30)}) {
        const LiveIntervals intervals(testing::random_problem(random, buffers, instructions, 1, 100, 1));
        Conflicts conflicts(intervals);
        for (int b = 0; b < buffers; b += 1 + buffers / 100) {
            std::vector<int> expected;
            for (const int other : intervals.by_first)
                if (other != b && intervals.overlap(other, b)) expected.push_back(other);
            const std::span<const int> found = conflicts.of(b);
            EXPECT_EQ(std::vector<int>(found.begin(), found.end()), expected);
            EXPECT_EQ(conflicts.count(b), expected.size());
        }
    }
}

TEST(LiveIntervals, LowerBoundIsTheMaximumOfLiveBytes) {
    const PackingProblem problem = testing::problem_of({{10, 0, 1}, {20, 1, 2}, {5, 2, 3}, {0, 1, 1}});
    EXPECT_THAT(lower_bounds(problem, LiveIntervals(problem)), ElementsAre(30));
}

TEST(LiveIntervals, LowerBoundIncludesPaddingOfAllButOne) {
    // Of two buffers of 65 and 100 bytes at multiples of 64 the lower one takes 128, the upper one its bytes: 128 + 65.
    const PackingProblem problem = testing::problem_of({{65, 0, 1, 64}, {100, 1, 2, 64}, {1, 3, 3, 64}});
    EXPECT_THAT(lower_bounds(problem, LiveIntervals(problem)), ElementsAre(193));
}

TEST(LiveIntervals, BlendWeightsSamplesByTheirBounds) {
    PackingProblem problem{{{{1, 1000}, 1, 0, 0}, {{3, 0}, 1, 0, 0}}, 2};
    const LiveIntervals intervals(problem);
    const auto bounds = lower_bounds(problem, intervals);
    const Sizes sizes = sizes_of(problem, bounds);
    ASSERT_EQ(sizes.columns, 3);
    EXPECT_EQ(sizes.at(0, 1), 1000);
    EXPECT_EQ(sizes.at(0, 2), std::int64_t{5} << 27);  // (1/4 + 1) / 2 of 2^30
    EXPECT_EQ(sizes.at(1, 2), std::int64_t{3} << 27);
    EXPECT_THAT(live_bytes(intervals, sizes, 1), ElementsAre(1000));
}

TEST(LiveIntervals, EmptyProblem) {
    const PackingProblem problem;
    const LiveIntervals intervals(problem);
    EXPECT_EQ(intervals.ticks, 0);
    EXPECT_THAT(lower_bounds(problem, intervals), ElementsAre(0));
}

}  // namespace
}  // namespace cairn::memory_plan
