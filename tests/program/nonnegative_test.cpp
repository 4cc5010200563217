#include "program/nonnegative.hpp"

#include "tests/program/sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::program {
namespace {

TEST(Nonnegative, ResidueClassesDecideRoundedSizes) {
    const auto symbols = Symbols::create();
    const Dim n = symbols->add("N", 6, 1000000), m = symbols->add("M", 6, 1000000);
    EXPECT_TRUE(is_nonnegative_by_residues(floordiv(n - 2, 2) - 2 - 2 * floordiv(n - 6, 4)));
    EXPECT_FALSE(is_nonnegative_by_residues(floordiv(n - 2, 2) - 3 - 2 * floordiv(n - 6, 4)));
    EXPECT_TRUE(is_nonnegative_by_residues(n * m - 4 * floordiv(n, 2) * floordiv(m, 2)));
    EXPECT_TRUE(is_nonnegative_by_residues(mod(n, 3) + 3 * floordiv(n, 3) - n));
    EXPECT_FALSE(is_nonnegative_by_residues(floordiv(n, 1000) - floordiv(n - 1, 1000))) << "too many classes";
    EXPECT_FALSE(is_nonnegative_by_residues(floordiv(n, m))) << "no constant divisor";
}

TEST(Nonnegative, ProofsHoldForEveryValue) {
    std::mt19937 random(3);
    int proved = 0, by_residues = 0;
    for (int round = 0; round < 800; ++round) {
        const auto symbols = test::random_symbols(random, 1 + round % 2, 9);
        Program program;
        program.symbols = symbols;
        const Dim first = test::random_size(random, *symbols), second = test::random_size(random, *symbols);
        const Dim size = floordiv(first, static_cast<int>(1 + random() % 3)) - floordiv(second, 2);
        std::int64_t least = 0;
        test::for_all_values(
            *symbols, [&](const std::vector<std::int64_t>& values) { least = std::min(least, size.evaluate(values)); });
        NonnegativeProver prover(program);
        const bool is_proved = prover.proved(size), is_decided = is_nonnegative_by_residues(size);
        EXPECT_LE(is_decided, is_proved) << to_string(size);
        if (is_proved) { EXPECT_EQ(least, 0) << to_string(size); }
        proved += is_proved;
        by_residues += is_decided && !provably_le(0, size);
    }
    EXPECT_GT(proved, 100);
    EXPECT_GT(by_residues, 10);
}

// A product of three sizes with roundings: the algebra proves nothing of the whole product.
TEST(Nonnegative, ProductsAreProvedByTheirFactors) {
    const auto symbols = Symbols::create();
    const Dim n = symbols->add("N", 3, 100000), m = symbols->add("M", 3, 100000), k = symbols->add("K", 3, 100000);
    const auto hidden = [](const Dim& x) { return x - 2 * floordiv(x, 2) + floordiv(x, 5) - 3 * floordiv(x, 15); };
    Program program;
    program.symbols = symbols;
    NonnegativeProver prover(program);
    const Dim product = hidden(n) * hidden(m) * hidden(k);
    EXPECT_FALSE(prover.proved_by_algebra(product));
    for (const Dim& x : {n, m, k})
        if (!prover.proved(hidden(x))) GTEST_FAIL() << to_string(hidden(x));
    EXPECT_TRUE(prover.proved_by_algebra(product));
}

}  // namespace
}  // namespace cairn::program
