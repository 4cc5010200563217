#include <gtest/gtest.h>

#include "random_size.hpp"

namespace cairn {
namespace {

using test::all_values;
using test::random_size;

TEST(DimInequality, ProvesOnlyTrueInequalities) {
    const auto symbols = Symbols::create();
    const std::vector<Dim> all = {symbols->add("N", 1, 4), symbols->add("M", 0, 3), symbols->add("K", 2, 5)};
    const auto values = all_values(symbols->list());
    std::mt19937_64 random(7);
    int proved = 0, true_ones = 0;
    for (int i = 0; i < 8000; ++i) {
        Dim a, b;
        try {
            a = random_size(random, 3, 1 + i % 3, true)->dim(all);
            b = random_size(random, 3, 1 + i % 2, true)->dim(all);
        } catch (const Error&) { continue; }
        bool at_most = true, differ = true;
        for (const auto& point : values) {
            try {
                const auto x = a.evaluate(point), y = b.evaluate(point);
                at_most = at_most && x <= y;
                differ = differ && x != y;
            } catch (const Error&) {
                continue;  // a divisor is 0 there
            }
        }
        if (provably_le(a, b)) {
            ASSERT_TRUE(at_most) << to_string(a) << " <= " << to_string(b);
            ++proved;
        }
        if (provably_ne(a, b)) { ASSERT_TRUE(differ) << to_string(a) << " != " << to_string(b); }
        true_ones += at_most ? 1 : 0;
    }
    // Observed: about nine of ten true inequalities are proved.
    EXPECT_GT(proved, true_ones * 3 / 4);
}

class DimInequalityTest : public testing::Test {
protected:
    std::shared_ptr<Symbols> symbols = Symbols::create();
    Dim n = symbols->add("N", 1, 1024), m = symbols->add("M", 0, 64), t = symbols->add("T", 1, 1024),
        past = symbols->add("P", 0, 1023), b = symbols->add("B", 1, 8);
};

TEST_F(DimInequalityTest, ConcaveSizesHaveTheirMinimumAtABound) {
    EXPECT_TRUE(provably_le(0, 2 + 1025 * n - n * n));
    EXPECT_TRUE(provably_le(1023, 1024 * n + n * m - n * n + 1023 - m)) << "(1024 - n) n + (n - 1) m";
    EXPECT_FALSE(provably_le(1, 1024 * n - n * n));
    EXPECT_FALSE(provably_le(0, 1023 * n - n * n)) << "negative at 1024";
    EXPECT_FALSE(provably_le(0, n * n - 3 * n + 2 - m)) << "convex";
}

TEST_F(DimInequalityTest, SumsAndProducts) {
    EXPECT_TRUE(provably_le(n, n));
    EXPECT_TRUE(provably_le(n, n + 1));
    EXPECT_TRUE(provably_le(0, past));
    EXPECT_TRUE(provably_le(past + t, 2047));
    EXPECT_TRUE(provably_le(t, past + t));
    EXPECT_TRUE(provably_le(n, n * n));
    EXPECT_TRUE(provably_le(t * 768, b * t * 768));
    EXPECT_TRUE(provably_le(m * n, m * 1024));
    EXPECT_TRUE(provably_le(past * t, past * t + b));
    EXPECT_TRUE(provably_le(4 * b * t * (past + t), 4 * b * t * (past + t) + 64));
    EXPECT_TRUE(provably_le(n - 1, 1023));
}

TEST_F(DimInequalityTest, FactorsOfAllTerms) {
    EXPECT_TRUE(provably_le(0, (1025 - n) * n * m));
    EXPECT_TRUE(provably_le(n * n * m, 1024 * n * m));
    EXPECT_FALSE(provably_le(0, (1023 - n) * n * m));
    EXPECT_FALSE(provably_le(0, (n - 1025) * m));
}

TEST_F(DimInequalityTest, Slices) {
    const Dim size = past + t;
    EXPECT_TRUE(provably_le(0, size - 1));
    EXPECT_TRUE(provably_le(past, size));
    EXPECT_TRUE(provably_le((size - 1) + 1, size));
    EXPECT_TRUE(provably_le(past + 1, size));
    EXPECT_TRUE(provably_le(max(0, n - 64), n));
    EXPECT_TRUE(provably_le(min(n, past), n));
}

TEST_F(DimInequalityTest, Functions) {
    EXPECT_TRUE(provably_le(n, 32 * ceildiv(n, 32)));
    EXPECT_TRUE(provably_le(32 * ceildiv(n, 32), n + 31));
    EXPECT_TRUE(provably_le(2 * floordiv(n, 2), n));
    EXPECT_TRUE(provably_le(floordiv(n, 2), n));
    EXPECT_TRUE(provably_le(ceildiv(n, 2), n));
    EXPECT_TRUE(provably_le(mod(n, 8), 7));
    EXPECT_TRUE(provably_le(mod(n, t), 1023));
    EXPECT_TRUE(provably_le(min(n, m), m));
    EXPECT_TRUE(provably_le(min(n, m), max(n, m)));
    EXPECT_TRUE(provably_le(max(n, past), n + past));
    EXPECT_TRUE(provably_le(b * min(n, m), b * m));
    EXPECT_TRUE(provably_le(64 * b * ceildiv(n, 64), b * (n + 63)));
}

TEST_F(DimInequalityTest, DifferentSizes) {
    EXPECT_TRUE(provably_ne(n, 0));
    EXPECT_TRUE(provably_ne(n, n + 1));
    EXPECT_TRUE(provably_ne(past + t, past));
    EXPECT_TRUE(provably_ne(t, 2000));
    EXPECT_FALSE(provably_ne(n, t));
    EXPECT_FALSE(provably_ne(n, n));
}

TEST_F(DimInequalityTest, InequalitiesThatMayBeFalseAreNotProved) {
    EXPECT_FALSE(provably_le(n, t));
    EXPECT_FALSE(provably_le(past + t, 1024));
    EXPECT_FALSE(provably_le(n + 1, n));
    EXPECT_FALSE(provably_le(n * n, n));
    EXPECT_FALSE(provably_le(64 * ceildiv(n, 64), n));
    // The factor of floordiv may be negative, which swaps its bounds.
    const Dim either_sign = mod(t, m - 32);
    EXPECT_FALSE(provably_le(either_sign * (n - 1), 2 * either_sign * floordiv(n, 2)));
    // The difference does not fit into 64 bits.
    EXPECT_FALSE(provably_le(INT64_MIN, INT64_MAX - 1024 + n * 2));
}

}  // namespace
}  // namespace cairn
