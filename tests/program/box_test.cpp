#include "program/box.hpp"

#include "graph/types/dim_table.hpp"
#include "tests/program/sizes.hpp"

#include <gtest/gtest.h>

namespace cairn::program {
namespace {

TEST(Box, BoundsStepsAndConvexityHoldForEveryValue) {
    std::mt19937 random(1);
    int convex = 0, monotonic = 0;
    for (int round = 0; round < 400; ++round) {
        const auto symbols = test::random_symbols(random, 1 + round % 3, 6);
        const Dim size = test::random_size(random, *symbols);
        const Polynomial polynomial = detail::DimTable::polynomial(size);
        const Box box(*symbols);
        const Interval bounds = bounds_over(polynomial, box);
        test::for_all_values(*symbols, [&](const std::vector<std::int64_t>& values) {
            const std::int64_t value = size.evaluate(values);
            EXPECT_TRUE(bounds.low <= value && value <= bounds.high) << to_string(size);
            for (std::size_t s = 0; s < values.size(); ++s) {
                const bool bends = is_convex(polynomial, s, box);
                const Interval step = forward_difference_over(polynomial, s, box);
                std::vector<std::int64_t> next = values, after = values;
                ++next[s], after[s] += 2;
                if (next[s] > box.ranges[s].high) continue;
                const std::int64_t up = size.evaluate(next) - value;
                EXPECT_TRUE(step.low <= up && up <= step.high) << to_string(size);
                monotonic += step.low >= 0 || step.high <= 0;
                if (after[s] > box.ranges[s].high || !bends) continue;
                EXPECT_GE(size.evaluate(after) - size.evaluate(next), up) << to_string(size);
                ++convex;
            }
        });
    }
    EXPECT_GT(convex, 1000);
    EXPECT_GT(monotonic, 1000);
}

TEST(Box, APointIsExact) {
    std::mt19937 random(2);
    for (int round = 0; round < 200; ++round) {
        const auto symbols = test::random_symbols(random, 2, 5);
        const Dim size = test::random_size(random, *symbols);
        test::for_all_values(*symbols, [&](const std::vector<std::int64_t>& values) {
            Box box(*symbols);
            for (std::size_t s = 0; s < values.size(); ++s) box.ranges[s] = {values[s], values[s]};
            const Interval bounds = bounds_over(detail::DimTable::polynomial(size), box);
            EXPECT_TRUE(bounds.low == size.evaluate(values) && bounds.high == bounds.low) << to_string(size);
        });
    }
}

}  // namespace
}  // namespace cairn::program
