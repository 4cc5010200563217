#include "program/memory_plan/sections.hpp"

#include "tests/program/memory_plan/packing_problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::memory_plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Section> sections(const PackingProblem& problem, int column = 0) {
    const LiveIntervals intervals(problem);
    return sections_of(problem, intervals, sizes_of(problem, lower_bounds(problem, intervals)), column);
}

TEST(Sections, AreCutWhereNoBufferCrosses) {
    const std::vector<Section> found = sections(testing::problem_of({{4, 5, 5}, {1, 0, 2}, {2, 1, 3}, {8, 4, 6}}));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_THAT(found[0].buffers, ElementsAre(1, 2));
    EXPECT_THAT(found[0].bytes, ElementsAre(1, 2));
    EXPECT_EQ(found[0].lower_bound, 3);
    EXPECT_THAT(found[1].buffers, ElementsAre(3, 0));
    EXPECT_EQ(found[1].lower_bound, 12);
    EXPECT_EQ(sections(testing::problem_of({{1, 0, 2}, {2, 2, 3}})).size(), 1U) << "both are live at 2";
}

TEST(Sections, LeaveOutBuffersWithoutBytes) {
    EXPECT_THAT(sections({}), IsEmpty());
    EXPECT_THAT(sections(testing::problem_of({{0, 0, 9}, {0, 3, 4}})), IsEmpty());
    EXPECT_EQ(sections(testing::problem_of({{0, 0, 9}, {1, 0, 1}, {1, 2, 3}})).size(), 2U) << "0 bytes connect nothing";
}

TEST(Sections, DependOnTheColumnOfSizes) {
    PackingProblem problem{{{{0, 7}, 1, 0, 9}, {{1, 1}, 1, 0, 1}, {{1, 1}, 1, 2, 3}}, 2};
    EXPECT_EQ(sections(problem, 0).size(), 2U);
    ASSERT_EQ(sections(problem, 1).size(), 1U);
    EXPECT_EQ(sections(problem, 1)[0].lower_bound, 8);
}

// [0,3] and [1,1] are both live at the end of [1,1]; no end is at 0 or 2.
TEST(Sections, TicksAreInstructionsAtWhichABufferEnds) {
    const std::vector<Section> found = sections(testing::problem_of({{1, 0, 3}, {2, 1, 1}, {4, 2, 5}}));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].ticks, 2);
    EXPECT_THAT(found[0].first, ElementsAre(0, 0, 1));
    EXPECT_THAT(found[0].last, ElementsAre(1, 0, 1));
    EXPECT_EQ(found[0].lower_bound, 5);
}

// The ticks of a section keep every overlap, and no other.
TEST(Sections, OverlapsAreThoseOfTheProblem) {
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        const PackingProblem problem = testing::random_problem(random, 30, 40, 1, 100, 1);
        std::size_t buffers = 0;
        for (const Section& section : sections(problem)) {
            buffers += section.buffers.size();
            for (int a = 0; a < section.count(); ++a)
                for (int b = 0; b < a; ++b)
                    EXPECT_EQ(section.first[a] <= section.last[b] && section.first[b] <= section.last[a],
                              testing::alive_together(problem.buffers[section.buffers[a]],
                                                      problem.buffers[section.buffers[b]]));
        }
        EXPECT_EQ(buffers,
                  static_cast<std::size_t>(std::count_if(problem.buffers.begin(), problem.buffers.end(),
                                                         [](const BufferRequest& b) { return b.bytes[0] > 0; })));
    }
}

TEST(Sections, RoundSizesUpToTheSmallestAlignment) {
    const std::vector<Section> found = sections(testing::problem_of({{1, 0, 1, 64}, {65, 0, 1, 128}}));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(found[0].bytes, ElementsAre(64, 128));
    EXPECT_THAT(found[0].alignment, ElementsAre(64, 128));
    EXPECT_EQ(found[0].unit, 64);
    EXPECT_FALSE(found[0].has_one_alignment);
    EXPECT_TRUE(sections(testing::problem_of({{1, 0, 1, 64}, {65, 0, 1, 64}}))[0].has_one_alignment);
}

}  // namespace
}  // namespace cairn::memory_plan
