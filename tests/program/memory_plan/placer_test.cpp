#include "program/memory_plan/placer.hpp"

#include "tests/program/memory_plan/packing_problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::memory_plan {
namespace {

using ::testing::ElementsAre;

std::vector<std::int64_t> placed(const PackingProblem& problem, const std::vector<int>& order, GapFit fit) {
    const LiveIntervals intervals(problem);
    const Sizes sizes = sizes_of(problem, lower_bounds(problem, intervals));
    Placer placer(problem, intervals);
    placer.place(order, sizes, 0, fit);
    return {placer.offsets().begin(), placer.offsets().end()};
}

TEST(Placer, PlacesBuffersInOrder) {
    EXPECT_THAT(placed(testing::problem_of({{4, 0, 0}, {2, 0, 0}, {3, 0, 0}}), {0, 1, 2}, GapFit::first),
                ElementsAre(0, 4, 6));
    EXPECT_THAT(placed(testing::problem_of({{4, 0, 0}, {2, 0, 0}, {3, 0, 0}}), {2, 1, 0}, GapFit::first),
                ElementsAre(5, 3, 0));
}

// Three pillars from 0 to 9 with gaps of 5 (from 10) and 3 (from 25) between them; the last buffer fits into both.
PackingProblem with_gaps(std::int64_t bytes) {
    return testing::problem_of({{10, 0, 9}, {5, 0, 1}, {10, 0, 9}, {3, 0, 1}, {10, 0, 9}, {bytes, 2, 9}});
}

TEST(Placer, FirstFitUsesTheLowestGapBestFitTheTightest) {
    EXPECT_EQ(placed(with_gaps(3), {0, 1, 2, 3, 4, 5}, GapFit::first)[5], 10);
    EXPECT_EQ(placed(with_gaps(3), {0, 1, 2, 3, 4, 5}, GapFit::best)[5], 25);
    EXPECT_EQ(placed(with_gaps(5), {0, 1, 2, 3, 4, 5}, GapFit::best)[5], 10);
    EXPECT_EQ(placed(with_gaps(6), {0, 1, 2, 3, 4, 5}, GapFit::best)[5], 38);
}

TEST(Placer, AlignsIntoAGap) {
    const PackingProblem problem =
        testing::problem_of({{10, 0, 9}, {70, 0, 1}, {10, 0, 9}, {16, 2, 9, 64}, {17, 2, 9, 64}});
    EXPECT_EQ(placed(problem, {0, 1, 2, 3}, GapFit::first)[3], 64);   // the gap is [10, 80)
    EXPECT_EQ(placed(problem, {0, 1, 2, 4}, GapFit::first)[4], 128);  // one byte too many
}

TEST(Placer, ZeroBytesAreNeverInsideAnotherBuffer) {
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        const PackingProblem problem = testing::random_problem(random, 12, 8, 1, 9, 1);
        const LiveIntervals intervals(problem);
        const Sizes sizes = sizes_of(problem, lower_bounds(problem, intervals));
        Placer placer(problem, intervals);
        std::vector<int> order(12), stack;
        for (int i = 0; i < 12; ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), random);
        placer.place(order, sizes, 0, round % 2 == 0 ? GapFit::first : GapFit::best);
        placer.list_by_offset(stack);
        const auto offset = placer.offsets();
        for (std::size_t k = 0; k < stack.size(); ++k) {
            for (std::size_t m = 0; m < k; ++m) {
                if (!intervals.overlap(stack[m], stack[k])) continue;
                EXPECT_LE(offset[stack[m]] + sizes.at(stack[m], 0), offset[stack[k]]);
            }
        }
    }
}

}  // namespace
}  // namespace cairn::memory_plan
