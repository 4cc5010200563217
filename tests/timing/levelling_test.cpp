#include "timing/levelling.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::timing {
namespace {

constexpr double mb = 1 << 20;

/// Of stretches of 1, 2, 4, ... MB.
double cached(const std::vector<double>& rates, double told) {
    std::vector<ReadRate> all;
    double bytes = mb;
    for (const double rate : rates) all.push_back({bytes, rate}), bytes *= 2;
    return cached_bytes(all, told) / mb;
}

TEST(Levelling, WhatIsReadFasterThanMemoryIsCached) {
    EXPECT_EQ(cached({60, 30, 29, 30, 28, 12, 11, 12}, 0), 16);
    EXPECT_EQ(cached({60, 30, 29, 30, 28, 12, 11, 12}, 480 * mb), 16) << "whatever the machine is told it has";
}

TEST(Levelling, WhereNoSharedCacheShowsWhatIsToldCounts) {
    EXPECT_EQ(cached({60, 30, 29, 30, 30, 28, 29, 30}, 480 * mb), 64)
        << "all of it may be cached: the most that is safe";
    EXPECT_EQ(cached({60, 30, 29, 30, 30, 28, 29, 30}, 8 * mb), 8);
    EXPECT_EQ(cached({60, 30, 29, 30, 30, 28, 29, 30}, 0), 1) << "a machine without one";
}

}  // namespace
}  // namespace cairn::timing
