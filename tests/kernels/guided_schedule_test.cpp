#include "kernels/cpu/panel/guided_schedule.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace cairn::kernels::cpu {
namespace {

std::vector<PanelRange> all(GuidedPanelSchedule runs) {
    std::vector<PanelRange> list;
    for (PanelRange run = runs.at(0); run.begin < run.end; run = runs.at(static_cast<std::int64_t>(list.size())))
        list.push_back(run);
    return list;
}

TEST(GuidedPanelSchedule, RangesShortenTowardsTheEnd) {
    std::vector<std::int64_t> lengths;
    for (const PanelRange& run : all({1, 24, 1, 2})) lengths.push_back(run.end - run.begin);
    EXPECT_EQ(lengths, (std::vector<std::int64_t>{6, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(GuidedPanelSchedule, CoversEveryPanelOfEveryBlockOnceInOrder) {
    for (const std::int64_t blocks : {0, 1, 2, 5})
        for (const std::int64_t panels : {0, 1, 2, 7, 24, 100, 1571})
            for (const std::int64_t at_once : {1, 3, 4})
                for (const std::int64_t threads : {1, 2, 3, 64}) {
                    std::int64_t next = 0;
                    for (const PanelRange& run : all({blocks, panels, at_once, threads})) {
                        ASSERT_EQ(run.block * panels + run.begin, next);
                        ASSERT_LE(run.end, panels);
                        ASSERT_LE(run.end - run.begin, 8);
                        next += run.end - run.begin;
                    }
                    EXPECT_EQ(next, blocks * panels) << panels << " panels, " << at_once << " at once";
                }
}

TEST(GuidedPanelSchedule, RangesOfManyPanelsAreMultiplesOfTheGroup) {
    for (const PanelRange& run : all({1, 96, 4, 2})) EXPECT_EQ((run.end - run.begin) % 4, 0);
}

// A thread gets numbers with gaps: other threads have claimed those between.
TEST(GuidedPanelSchedule, IsTheSameForEveryThread) {
    const std::vector<PanelRange> list = all({2, 72, 1, 2});
    GuidedPanelSchedule every_third(2, 72, 1, 2);
    for (std::size_t i = 0; i < list.size() + 3; i += 3) {
        const PanelRange run = every_third.at(static_cast<std::int64_t>(i));
        EXPECT_EQ(run.begin < run.end, i < list.size());
        if (i >= list.size()) continue;
        EXPECT_EQ(run.begin, list[i].begin);
        EXPECT_EQ(run.end, list[i].end);
        EXPECT_EQ(run.block, list[i].block);
    }
}

}  // namespace
}  // namespace cairn::kernels::cpu
