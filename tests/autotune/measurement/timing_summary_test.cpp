#include "autotune/measurement/timing_summary.hpp"

#include <gtest/gtest.h>

namespace cairn::autotune {
namespace {

TEST(TimingSummary, QuantilesUseTheNearestRank) {
    EXPECT_EQ(quantile({7}, 0.9), 7);
    EXPECT_EQ(quantile({1, 2, 3}, 0.5), 2);
    EXPECT_EQ(quantile({1, 2, 3, 4}, 0.5), 3);
    EXPECT_EQ(quantile({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 0.1), 2);
}

TEST(TimingSummary, IsRobustToOneDisturbedBlock) {
    const Timing timing = summary_of({3, 1, 2, 5, 100}, 8);
    EXPECT_EQ(timing.status, TimingStatus::ok);
    EXPECT_EQ(timing.samples, 5);
    EXPECT_EQ(timing.inner, 8);
    EXPECT_EQ(timing.min, 1);
    EXPECT_EQ(timing.median, 3);
    EXPECT_EQ(timing.p90, 100);
    EXPECT_EQ(timing.mad, 2) << "of 0, 1, 2, 2, 97";
}

}  // namespace
}  // namespace cairn::autotune
