#include "graph/types/interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace cairn::detail {
namespace {

std::int64_t floor_of(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// Tries all pairs of intervals in -3..3: the result of `of` contains `value` of all pairs of elements; if `tight`, no
/// more.
void try_all(const std::function<Interval(Interval, Interval)>& of,
             const std::function<std::int64_t(std::int64_t, std::int64_t)>& value, bool tight, bool divides = false) {
    for (std::int64_t al = -3; al <= 3; ++al)
        for (std::int64_t ah = al; ah <= 3; ++ah)
            for (std::int64_t bl = -3; bl <= 3; ++bl)
                for (std::int64_t bh = bl; bh <= 3; ++bh) {
                    if (divides && bl == 0 && bh == 0) continue;
                    std::int64_t low = std::numeric_limits<std::int64_t>::max(),
                                 high = std::numeric_limits<std::int64_t>::min();
                    for (std::int64_t a = al; a <= ah; ++a)
                        for (std::int64_t b = bl; b <= bh; ++b) {
                            if (divides && b == 0) continue;
                            low = std::min(low, value(a, b));
                            high = std::max(high, value(a, b));
                        }
                    const Interval range = of({al, ah}, {bl, bh});
                    const bool holds = range.low <= low && high <= range.high;
                    const bool is_tight = range.low == low && range.high == high;
                    ASSERT_TRUE(holds && (!tight || is_tight)) << al << ".." << ah << " and " << bl << ".." << bh;
                }
}

TEST(Interval, ContainsExactlyThePossibleValues) {
    try_all(add, std::plus<>(), true);
    try_all(multiply, std::multiplies<>(), true);
    try_all(quotient_bounds, floor_of, true, true);
    try_all(
        interval_min, [](std::int64_t a, std::int64_t b) { return std::min(a, b); }, true);
    try_all(
        interval_max, [](std::int64_t a, std::int64_t b) { return std::max(a, b); }, true);
    try_all(
        remainder_bounds, [](std::int64_t a, std::int64_t b) { return a - b * floor_of(a, b); }, false, true);
}

TEST(Interval, RemaindersOfNonnegativeValuesDoNotExceedThem) {
    EXPECT_EQ(to_int64(remainder_bounds({0, 3}, {8, 8}).high), 3);
    EXPECT_EQ(to_int64(remainder_bounds({0, 9}, {8, 8}).high), 7);
    EXPECT_EQ(to_int64(remainder_bounds({-9, -1}, {8, 8}).low), 0);
}

TEST(Interval, InfinityIsPreserved) {
    const Interval all{-infinity, infinity}, up{1, infinity};
    EXPECT_TRUE(add(up, {-5, -5}).high == infinity && add(up, {-5, -5}).low == -4);
    EXPECT_TRUE(add(up, all).low == -infinity) << "and is not taken away";
    EXPECT_TRUE(multiply(up, {0, 0}).high == 0);
    EXPECT_TRUE(multiply(up, {-2, -2}).low == -infinity);
    EXPECT_TRUE(multiply({infinity - 1, infinity - 1}, {2, 2}).high == infinity) << "never beyond";
    EXPECT_TRUE(quotient_bounds(up, {2, 2}).high == infinity);
    EXPECT_TRUE(quotient_bounds({-5, 5}, up).low == -5 && quotient_bounds({-5, 5}, up).high == 5);
    EXPECT_TRUE(quotient_bounds({-5, 5}, {infinity, infinity}).low == -1) << "rounded down";
    EXPECT_TRUE(quotient_bounds({1, 1}, {0, 0}).high == infinity) << "nothing is known of it";
    EXPECT_TRUE(remainder_bounds(all, up).high == infinity && remainder_bounds(all, up).low == 0);
}

TEST(Interval, BoundsOf64BitsAreCutOff) {
    EXPECT_EQ(to_int64(infinity), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(to_int64(-infinity), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(to_int64(Wide(1) << 63), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(to_int64(-5), -5);
}

}  // namespace
}  // namespace cairn::detail
