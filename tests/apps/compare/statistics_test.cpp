#include "apps/compare/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace cairn::compare {
namespace {

std::vector<double> one_to(int count) {
    std::vector<double> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 1.0);
    std::ranges::reverse(values);
    return values;
}

TEST(Statistics, KnownValues) {
    const Statistics s = statistics_of(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
    EXPECT_EQ(s.count, 8U);
    EXPECT_DOUBLE_EQ(s.mean, 5);
    EXPECT_DOUBLE_EQ(s.deviation.value(), std::sqrt(32.0 / 7));
    EXPECT_EQ(s.least, 2);
    EXPECT_EQ(s.p50, 4) << "by nearest rank, not the mean of 4 and 5";
    EXPECT_FALSE(s.p95);
    EXPECT_FALSE(s.p99);
}

TEST(Statistics, PercentilesAreNearestRanks) {
    const Statistics hundred = statistics_of(one_to(100));
    EXPECT_EQ(hundred.p50, 50);
    EXPECT_EQ(hundred.p95, 95);
    EXPECT_EQ(hundred.p99, 99);
    const Statistics odd = statistics_of(one_to(101));
    EXPECT_EQ(odd.p50, 51);
    EXPECT_EQ(odd.p95, 96);
    EXPECT_EQ(odd.p99, 100);
    const Statistics twenty = statistics_of(one_to(20));
    EXPECT_EQ(twenty.p50, 10);
    EXPECT_EQ(twenty.p95, 19);
}

TEST(Statistics, FewValuesHaveNoHighPercentiles) {
    EXPECT_FALSE(statistics_of(one_to(19)).p95);
    EXPECT_TRUE(statistics_of(one_to(20)).p95);
    EXPECT_FALSE(statistics_of(one_to(99)).p99);
    EXPECT_TRUE(statistics_of(one_to(100)).p99);
    const Statistics one = statistics_of(std::vector<double>{3});
    EXPECT_EQ(one.p50, 3);
    EXPECT_EQ(one.mean, 3);
    EXPECT_FALSE(one.deviation);
    EXPECT_EQ(statistics_of(one_to(2)).p50, 1);
}

}  // namespace
}  // namespace cairn::compare
