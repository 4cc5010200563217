#include "autotune/measurement/working_set_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace cairn::autotune {
namespace {

constexpr double mb = 1 << 20;

/// Rates of working sets of 1, 2, 4, ... MB.
double cached(const std::vector<double>& rates, double reported) {
    std::vector<WorkingSetBandwidth> all;
    double bytes = mb;
    for (const double rate : rates) all.push_back({bytes, rate}), bytes *= 2;
    return effective_cache_bytes(all, reported) / mb;
}

TEST(WorkingSetSweep, RatesAboveMemoryBandwidthAreCached) {
    EXPECT_EQ(cached({60, 30, 29, 30, 28, 12, 11, 12}, 0), 16);
    EXPECT_EQ(cached({60, 30, 29, 30, 28, 12, 11, 12}, 480 * mb), 16) << "whatever size the machine reports";
}

TEST(WorkingSetSweep, WithoutAVisibleSharedCacheTheReportedSizeApplies) {
    EXPECT_EQ(cached({60, 30, 29, 30, 30, 28, 29, 30}, 480 * mb), 64)
        << "all of it may be cached: the most that is safe";
    EXPECT_EQ(cached({60, 30, 29, 30, 30, 28, 29, 30}, 8 * mb), 8);
    EXPECT_EQ(cached({60, 30, 29, 30, 30, 28, 29, 30}, 0), 1) << "a machine without one";
}

/// GB/s of a working set of `bytes`, of which a cache always holds `cached` bytes.
double mixed_rate(double bytes, double cached, double from_cache, double from_memory) {
    const double share = std::min(cached / bytes, 1.0);
    return 1 / (share / from_cache + (1 - share) / from_memory);
}

TEST(WorkingSetSweep, WorkingSetsGrowUntilTheRateIsFlat) {
    const auto rates =
        sweep_to_memory_plateau(64 * mb, 1024 * mb, [](double bytes) { return mixed_rate(bytes, 64 * mb, 220, 37); });
    ASSERT_EQ(rates.size(), 5u);
    EXPECT_EQ(rates.back().bytes, 1024 * mb);
    EXPECT_LT(rates.back().rate, 1.07 * 37) << "at 128 MB it is 1.7 times as much";
    EXPECT_EQ(
        sweep_to_memory_plateau(64 * mb, 1024 * mb, [](double bytes) { return mixed_rate(bytes, 8 * mb, 220, 37); })
            .back()
            .bytes,
        512 * mb);
}

TEST(WorkingSetSweep, APlateauNeedsTwoStepsWithinMemory) {
    EXPECT_EQ(sweep_to_memory_plateau(64 * mb, 1024 * mb, [](double) { return 37; }).size(), 3u);
    EXPECT_EQ(sweep_to_memory_plateau(64 * mb, 1024 * mb, [](double bytes) { return bytes < 200 * mb ? 50 : 37; })
                  .back()
                  .bytes,
              1024 * mb)
        << "two equal rates by chance";
    EXPECT_EQ(sweep_to_memory_plateau(64 * mb, 300 * mb, [](double bytes) { return 1 / bytes; }).back().bytes,
              256 * mb);
    int steps = 0;
    EXPECT_EQ(sweep_to_memory_plateau(
                  64 * mb, 1024 * mb, [](double bytes) { return 1 / bytes; }, [&] { return ++steps < 3; })
                  .size(),
              3u)
        << "while there is time";
    EXPECT_EQ(sweep_to_memory_plateau(64 * mb, 0, [](double) { return 37; }).size(), 1u) << "there is always one rate";
}

}  // namespace
}  // namespace cairn::autotune
