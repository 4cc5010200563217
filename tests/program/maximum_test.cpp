#include "program/maximum.hpp"

#include "graph/types/dim_table.hpp"
#include "tests/program/sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace cairn::program {
namespace {

Wide sum_of(std::span<const Wide> sizes) {
    Wide sum = 0;
    for (const Wide size : sizes) sum += size;
    return sum;
}

std::int64_t rounded(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

TEST(Maximum, EqualsBruteForce) {
    std::mt19937 random(3);
    int inside = 0, limited = 0;
    for (int round = 0; round < 800; ++round) {
        const auto symbols = test::random_symbols(random, 1 + round % 3, round % 3 == 0 ? 60 : 12);
        std::vector<Dim> sizes;
        Quantity quantity;
        quantity.unit = round % 2 == 0 ? 64 : 1;
        quantity.total = sum_of;
        for (unsigned i = 0; i < 1 + random() % 4; ++i) {
            sizes.push_back(test::random_size(random, *symbols));
            quantity.sizes.push_back(detail::DimTable::polynomial(sizes.back()));
        }
        std::vector<Dim> limits;
        if (round % 2 == 1)
            limits.push_back(test::random_size(random, *symbols) - Dim(static_cast<int>(random() % 99)));
        std::vector<Polynomial> limit_polynomials;
        for (const Dim& limit : limits) limit_polynomials.push_back(detail::DimTable::polynomial(limit));

        std::optional<std::int64_t> most;
        test::for_all_values(*symbols, [&](const std::vector<std::int64_t>& values) {
            for (const Dim& limit : limits)
                if (limit.evaluate(values) > 0) return;
            std::int64_t total = 0;
            for (const Dim& size : sizes) total += rounded(size.evaluate(values), quantity.unit);
            most = std::max(most.value_or(total), total);
        });

        const Maximum found = maximum_of(quantity, *symbols, limit_polynomials, {.boxes = 100000});
        ASSERT_EQ(found.legal, most.has_value()) << "round " << round;
        if (!most) continue;
        EXPECT_TRUE(found.bound == Wide(*most) && found.found == found.bound) << "round " << round;
        std::int64_t attained = 0;
        for (const Dim& size : sizes) attained += rounded(size.evaluate(found.at), quantity.unit);
        EXPECT_EQ(attained, *most) << "round " << round;
        const auto list = symbols->list();
        for (std::size_t s = 0; s < list.size(); ++s) inside += found.at[s] > list[s].low && found.at[s] < list[s].high;
        limited += !limits.empty();

        // Cut short, it is still a bound.
        const Maximum rough = maximum_of(quantity, *symbols, limit_polynomials, {.boxes = 3});
        EXPECT_TRUE(rough.bound >= Wide(*most) && (!rough.legal || rough.found <= Wide(*most))) << "round " << round;
    }
    EXPECT_GT(inside, 100);
    EXPECT_GT(limited, 100);
}

TEST(Maximum, OfALongRangeNeedsFewBoxes) {
    const auto symbols = Symbols::create();
    const Dim t = symbols->add("T", 1, 1 << 20), past = symbols->add("past", 0, (1 << 20) - 1);
    const auto most = [&](const Dim& size, const std::vector<Dim>& limits) {
        std::vector<Polynomial> polynomials;
        for (const Dim& limit : limits) polynomials.push_back(detail::DimTable::polynomial(limit));
        const Maximum found =
            maximum_of({{detail::DimTable::polynomial(size)}, 64, sum_of}, *symbols, polynomials, {.boxes = 200});
        EXPECT_TRUE(found.bound == found.found);
        return found;
    };
    const std::int64_t full = 1 << 20;
    EXPECT_TRUE(most(48 * t * (t + past), {t + past - full}).found == Wide(48) * full * full);
    EXPECT_TRUE(most(64 * (Dim(full) - t) + 128 * past, {}).found == Wide(192) * (full - 1));
    EXPECT_EQ(most(64 * (Dim(full) - t), {t + past - full}).at[0], 1);
}

}  // namespace
}  // namespace cairn::program
