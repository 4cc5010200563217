#include "device/cpu/spin_budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace cairn::device {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr auto never = [] { return false; };

/// Becomes true at the second check, that is while spinning.
struct Soon {
    mutable int checks = 0;
    bool operator()() const { return ++checks > 1; }
};

TEST(SpinBudget, ShrinksIfSpinningFails) {
    SpinBudget budget(microseconds(16), 8);
    std::vector<std::int64_t> seen;
    for (int i = 0; i < 5; ++i) {
        seen.push_back(budget.now().count());
        EXPECT_FALSE(budget.wait(never));
    }
    EXPECT_EQ(seen, (std::vector<std::int64_t>{16000, 8000, 4000, 2000, 2000}));
}

TEST(SpinBudget, GrowsIfSpinningSucceeds) {
    SpinBudget budget(microseconds(16), 8);
    for (int i = 0; i < 5; ++i) EXPECT_FALSE(budget.wait(never));
    EXPECT_EQ(budget.now(), SpinBudget::least);
    EXPECT_TRUE(budget.wait(Soon()));
    EXPECT_EQ(budget.now(), microseconds(16));
}

TEST(SpinBudget, AnImmediateSuccessChangesNothing) {
    SpinBudget budget(microseconds(16), 8);
    EXPECT_FALSE(budget.wait(never));
    EXPECT_TRUE(budget.wait([] { return true; }));
    EXPECT_EQ(budget.now(), microseconds(8));
}

// Counts how often the condition is checked: a full spin checks many times more often than a short one.
TEST(SpinBudget, TriesAFullSpinPeriodically) {
    SpinBudget budget(microseconds(2000), 8);
    const auto count_checks = [&] {
        long count = 0;
        EXPECT_FALSE(budget.wait([&] {
            ++count;
            return false;
        }));
        return count;
    };
    for (int i = 0; i < 10; ++i) count_checks();
    EXPECT_EQ(budget.now(), SpinBudget::least);
    long least = count_checks(), most = least;
    for (int i = 0; i < 40; ++i) {
        const long now = count_checks();
        least = std::min(least, now);
        most = std::max(most, now);
    }
    EXPECT_GT(most, 2 * least);
}

TEST(SpinBudget, OfZeroNeverSpins) {
    SpinBudget budget(nanoseconds(0), 8);
    int checks = 0;
    for (int i = 0; i < 20; ++i)
        EXPECT_FALSE(budget.wait([&] {
            ++checks;
            return false;
        }));
    EXPECT_EQ(checks, 20);
}

}  // namespace
}  // namespace cairn::device
