#include "graph/types/dim_solve.hpp"

#include "random_size.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

/// Equations between sizes, solved for one symbol; compared with trying all values.
namespace cairn::test {
namespace {

using detail::Attainable;
using detail::depends_on;
using detail::SizeEquation;
using detail::Solution;
using detail::SolutionCount;
using detail::Unknown;

/// One symbol `h` with these bounds.
struct OneSymbol {
    std::shared_ptr<Symbols> symbols = Symbols::create();
    std::int64_t low, high;
    Dim h;
    std::int64_t value = 0;

    OneSymbol(std::int64_t least, std::int64_t most) : low(least), high(most), h(symbols->add("h", least, most)) {}
    Unknown unknown() const { return {{&value, 1}, 0, low, high}; }
    Solution solve(const Dim& size, std::int64_t wanted) const {
        const SizeEquation equation{{&size, 1}, wanted};
        return detail::solve({&equation, 1}, unknown());
    }
    Attainable nearest(const Dim& size, std::int64_t wanted) const {
        return detail::nearest_attainable({{&size, 1}, wanted}, unknown());
    }
};

void expect_only(const Solution& solution, std::int64_t value) {
    EXPECT_EQ(solution.count, SolutionCount::one);
    EXPECT_EQ(solution.value, value);
}

TEST(DimSolve, FindsTheSolutionInARangeOf62Bits) {
    const OneSymbol s(0, std::int64_t{1} << 62);
    const std::int64_t large = 1'234'567'890'123;
    expect_only(s.solve(s.h, large), large);
    expect_only(s.solve(32 * s.h + 5, 32 * large + 5), large);
    expect_only(s.solve(floordiv(s.h * 3 + 1, 2), 3'000'000), 2'000'000);
    expect_only(s.solve(s.h * s.h - s.h + 7, 1'000'000 * std::int64_t{999'999} + 7), 1'000'000);
    expect_only(s.solve(s.h * s.h * s.h, std::int64_t{1'000'000} * 1'000'000 * 1'000'000), 1'000'000);
    EXPECT_EQ(s.solve(32 * s.h, 100).count, SolutionCount::none);
    EXPECT_EQ(s.solve(s.h * s.h, 99).count, SolutionCount::none);
}

TEST(DimSolve, DistinguishesSeveralSolutionsFromOne) {
    const OneSymbol s(1, 1'000'000'000);
    const Solution halves = s.solve(floordiv(s.h, 2), 4);
    EXPECT_EQ(halves.count, SolutionCount::several);
    EXPECT_EQ(halves.value, 8);
    EXPECT_EQ(halves.second, 9);
    EXPECT_EQ(s.solve(mod(s.h, 7), 3).count, SolutionCount::several);
    EXPECT_EQ(s.solve(max(s.h, 100), 100).count, SolutionCount::several);
    expect_only(s.solve(max(s.h, 100), 101), 101);
    const Dim sizes[] = {floordiv(s.h, 2), mod(s.h, 2)};
    const SizeEquation both[] = {{{&sizes[0], 1}, 4}, {{&sizes[1], 1}, 1}};
    expect_only(detail::solve(both, s.unknown()), 9);
}

TEST(DimSolve, AProductOfSizesIsANumberOfElements) {
    const OneSymbol s(1, 1 << 20);
    const Shape shape{1, 3, 32 * s.h, s.h + 1};
    const SizeEquation count{shape, 3 * 32 * 7 * 8};
    expect_only(detail::solve({&count, 1}, s.unknown()), 7);
    const Attainable nearest = detail::nearest_attainable({shape, 700}, s.unknown());
    EXPECT_EQ(nearest.below, 96 * 2 * 3);
    EXPECT_EQ(nearest.above, 96 * 3 * 4);
}

TEST(DimSolve, NearestValuesAreFoundOnBothSides) {
    const OneSymbol s(1, std::int64_t{1} << 40);
    EXPECT_EQ(s.nearest(32 * s.h, 1'000'010).below, 1'000'000);
    EXPECT_EQ(s.nearest(32 * s.h, 1'000'010).above, 1'000'032);
    EXPECT_EQ(s.nearest(32 * s.h, 100).above, 128);
    EXPECT_EQ(s.nearest(32 * s.h, 31).below, std::nullopt);
    EXPECT_EQ(s.nearest(1000 - 3 * s.h, 500).below, 499);
    EXPECT_EQ(s.nearest(1000 - 3 * s.h, 998).above, std::nullopt);
    EXPECT_EQ(s.nearest(1000 - 3 * s.h, 0).below, std::nullopt) << "no size is negative";
    EXPECT_EQ(s.nearest(s.h * s.h, 99).below, 81);
    EXPECT_EQ(s.nearest(s.h * s.h, 99).above, 100);
}

TEST(DimSolve, ADivisionByZeroIsNoSolution) {
    const OneSymbol s(0, 8);
    expect_only(s.solve(floordiv(12, s.h), 6), 2);
    EXPECT_EQ(s.solve(floordiv(12, s.h), 9).count, SolutionCount::none);
    EXPECT_EQ(s.solve(mod(12, s.h), 5).value, 7);
}

TEST(DimSolve, ListsTheSymbolsThatASizeDependsOn) {
    const auto symbols = Symbols::create();
    const Dim a = symbols->add("a", 1, 9), b = symbols->add("b", 1, 9);
    EXPECT_FALSE(depends_on(3, 0));
    EXPECT_TRUE(depends_on(2 * a, 0));
    EXPECT_FALSE(depends_on(2 * a, 1));
    EXPECT_TRUE(depends_on(a + floordiv(a, b + 1), 1));
}

// Random sizes of two symbols, one of which is known.
TEST(DimSolve, AgreesWithBruteForce) {
    std::mt19937_64 random(20);
    int solved = 0, several = 0;
    for (int i = 0; i < 4000; ++i) {
        const auto symbols = Symbols::create();
        const std::vector<Dim> dims{symbols->add("a", 0, 3), symbols->add("b", 0, 40)};
        const auto plain = random_size(random, 2, 4, true);
        Dim size;
        try {
            size = plain->dim(dims);
        } catch (const Error&) { continue; }
        std::int64_t values[] = {static_cast<std::int64_t>(random() % 4), static_cast<std::int64_t>(random() % 41)};
        const Unknown unknown{values, 1, 0, 40};
        const auto at = [&](std::int64_t b) -> std::optional<std::int64_t> {
            std::int64_t point[] = {values[0], b};
            try {
                return size.evaluate(point);
            } catch (const Error&) { return std::nullopt; }
        };
        const std::int64_t wanted = at(values[1]).value_or(0) + static_cast<std::int64_t>(random() % 3) - 1;
        std::vector<std::int64_t> right;
        std::optional<std::int64_t> below, above;
        for (std::int64_t b = 0; b <= 40; ++b) {
            const auto value = at(b);
            if (!value) continue;
            if (*value == wanted) right.push_back(b);
            if (*value <= wanted && *value >= 0 && (!below || *value > *below)) below = value;
            if (*value >= wanted && (!above || *value < *above)) above = value;
        }
        const SizeEquation equation{{&size, 1}, wanted};
        const Solution found = detail::solve({&equation, 1}, unknown);
        ASSERT_EQ(found.count, right.empty()      ? SolutionCount::none
                               : right.size() > 1 ? SolutionCount::several
                                                  : SolutionCount::one)
            << size << " = " << wanted << " at a = " << values[0];
        if (!right.empty()) { ASSERT_EQ(found.value, right[0]) << size << " = " << wanted; }
        if (right.size() > 1) { ASSERT_EQ(found.second, right[1]) << size << " = " << wanted; }
        const Attainable nearest = detail::nearest_attainable(equation, unknown);
        ASSERT_EQ(nearest.below, below) << size << " near " << wanted << " at a = " << values[0];
        ASSERT_EQ(nearest.above, above) << size << " near " << wanted << " at a = " << values[0];
        solved += right.size() == 1 ? 1 : 0;
        several += right.size() > 1 ? 1 : 0;
    }
    EXPECT_GT(solved, 500);
    EXPECT_GT(several, 500);
}

}  // namespace
}  // namespace cairn::test
