#include "program/memory_plan/partial_plan.hpp"

#include "tests/program/memory_plan/section_problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace cairn::memory_plan {
namespace {

using ::testing::ElementsAre;

/// A plan of all buffers of a problem, numbered as there, in one range of ticks.
struct Planned {
    explicit Planned(const std::vector<testing::Simple>& simple)
        : section(testing::section_of_all(testing::problem_of(simple))), all(section.buffers), plan(section, all) {}
    bool place(int buffer) { return plan.place(buffer, {0, section.ticks - 1, all}); }
    std::vector<std::int64_t> offsets() const {
        std::vector<std::int64_t> offsets;
        for (const int b : all) offsets.push_back(plan.offset(b));
        return offsets;
    }

    Section section;
    std::vector<int> all;
    PartialPlan plan;
};

TEST(PartialPlan, StartsOnlyIfTheLiveBytesFit) {
    Planned planned({{4, 0, 1}, {5, 1, 2}});
    EXPECT_FALSE(planned.plan.start(8));
    EXPECT_TRUE(planned.plan.start(9));
}

TEST(PartialPlan, PlacesAboveTheBuffersThatAreLiveTogether) {
    Planned planned({{4, 0, 1}, {2, 1, 2}, {3, 2, 3}, {1, 0, 3}});
    ASSERT_TRUE(planned.plan.start(100));
    EXPECT_TRUE(planned.place(0));
    EXPECT_THAT(planned.offsets(), ElementsAre(0, 4, 0, 4));
    EXPECT_TRUE(planned.place(2));
    EXPECT_THAT(planned.offsets(), ElementsAre(0, 4, 0, 4));
    EXPECT_TRUE(planned.place(1));
    EXPECT_TRUE(planned.place(3));
    EXPECT_THAT(planned.offsets(), ElementsAre(0, 4, 0, 6));
    EXPECT_EQ(planned.plan.end(3), 7);
    EXPECT_EQ(planned.plan.placed(), 4);
    EXPECT_THAT(planned.plan.order(), ElementsAre(0, 2, 1, 3));
}

TEST(PartialPlan, UndoRestoresAllOffsets) {
    std::mt19937 random(3);
    const Section section = testing::section_of_all(testing::random_problem(random, 30, 12, 1, 100, 1));
    std::vector<int> all(section.buffers.size());
    std::iota(all.begin(), all.end(), 0);
    PartialPlan plan(section, all);
    ASSERT_TRUE(plan.start(1'000'000));
    const auto offsets = [&] {
        std::vector<std::int64_t> of;
        for (const int b : all) of.push_back(plan.offset(b));
        return of;
    };
    std::vector<std::vector<std::int64_t>> before;
    const auto lowest = [&] {
        int next = -1;
        for (const int b : all)
            if (!plan.is_placed(b) && (next < 0 || plan.offset(b) < plan.offset(next))) next = b;
        return next;
    };
    for (const int b : all) {
        before.push_back(offsets());
        ASSERT_TRUE(plan.place(lowest(), {0, section.ticks - 1, all})) << b;
    }
    for (; !before.empty(); before.pop_back()) {
        plan.undo();
        EXPECT_EQ(offsets(), before.back());
    }
    EXPECT_EQ(plan.placed(), 0);
}

TEST(PartialPlan, AlignsOffsets) {
    Planned planned({{4, 0, 1, 4}, {8, 0, 1, 8}, {4, 0, 1, 4}});
    ASSERT_TRUE(planned.plan.start(100));
    EXPECT_TRUE(planned.place(0));
    EXPECT_THAT(planned.offsets(), ElementsAre(0, 8, 4));
}

TEST(PartialPlan, KnowsEqualBuffers) {
    const Planned planned({{4, 0, 1}, {4, 0, 2}, {4, 0, 1}, {4, 0, 1, 2}, {4, 0, 1}, {1, 2, 2}});
    std::vector<int> equal;
    for (int b = 0; b < planned.plan.count(); ++b) equal.push_back(planned.plan.equal_before(b));
    EXPECT_THAT(equal, ElementsAre(-1, -1, 0, -1, 2, -1));
}

// Where two live together, the second would end at 9 above the first.
TEST(PartialPlan, RefusesABufferThatWouldEndAboveTheCeiling) {
    Planned planned({{4, 0, 1}, {5, 1, 2}, {4, 2, 3}});
    ASSERT_TRUE(planned.plan.start(9));
    EXPECT_TRUE(planned.place(0));
    EXPECT_TRUE(planned.place(2));
    EXPECT_TRUE(planned.place(1));
    ASSERT_TRUE(planned.plan.start(9));
    EXPECT_TRUE(planned.place(1));
    EXPECT_TRUE(planned.place(0));
    EXPECT_EQ(planned.plan.offset(0), 5);
}

// At the last tick 3 + 5 bytes are unplaced. Both must be above 3 once the buffer at 3 is placed, by order of offset.
TEST(PartialPlan, RefusesWhatLeavesTooLittleElsewhere) {
    Planned planned({{3, 0, 0}, {1, 0, 0}, {3, 1, 1}, {5, 1, 1}});
    ASSERT_TRUE(planned.plan.start(10));
    EXPECT_TRUE(planned.place(0));
    EXPECT_FALSE(planned.place(1));
    EXPECT_EQ(planned.plan.placed(), 1) << "a refused buffer is not placed";
    EXPECT_THAT(planned.offsets(), ElementsAre(0, 3, 0, 0));
    ASSERT_TRUE(planned.plan.start(11));
    EXPECT_TRUE(planned.place(0));
    EXPECT_FALSE(planned.place(1)) << "each needs another one below it, of at least 3 bytes: 3 + 3 + 8 > 11";
    ASSERT_TRUE(planned.plan.start(14));
    EXPECT_TRUE(planned.place(0));
    EXPECT_TRUE(planned.place(1));
}

}  // namespace
}  // namespace cairn::memory_plan
