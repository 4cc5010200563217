#include "rewrite/normal_form/normalizer.hpp"

#include "tests/rewrite/normal_form/equal_pairs.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(NormalizeInteger, PositionsAreTheSameInI32AndI64) {
    Graph g("g");
    const Dim n = g.symbol("N", 1, 8);
    EXPECT_TRUE(same_form(cast(iota(g, n, DType::i64, 3), DType::i32), iota(g, n, DType::i32) + 3));
    EXPECT_TRUE(same_form(cast(g.constant(DType::i32, n) - iota(g, n), DType::i64),
                          g.constant(DType::i64, n) - iota(g, n, DType::i64)));
    EXPECT_TRUE(
        same_form(iota(g, n) <= g.constant(DType::i32, n), iota(g, n, DType::i64) <= g.constant(DType::i64, n)));
    // Too large for i32: the cast saturates.
    const std::int64_t large = std::int64_t{1} << 30;
    EXPECT_FALSE(same_form(cast(iota(g, n, DType::i64, 2 * large) - large, DType::i32),
                           cast(iota(g, n, DType::i64, 2 * large), DType::i32) - large));
    const Tensor k = g.input("k", DType::i64, {4});
    EXPECT_FALSE(same_form(cast(k + 1, DType::i32), cast(k, DType::i32) + 1));
}

TEST(NormalizeInteger, IntegersAreComparedExactly) {
    Graph g("g");
    const Tensor k = g.input("k", DType::i32, {4}), l = g.input("l", DType::i64, {4});
    EXPECT_FALSE(same_form(k == 2000000, k == 2000001));
    EXPECT_FALSE(same_form(k + 20000000, k + 20000001));
    EXPECT_FALSE(same_form(k * 20000000, k * 20000001));
    EXPECT_FALSE(same_form(where(k < 0, 20000000, k), where(k < 0, 20000001, k)));
    EXPECT_FALSE(same_form(pad(k, 0, 1, 0, 20000000), pad(k, 0, 1, 0, 20000001)));
    EXPECT_FALSE(same_form(g.constant(DType::i32, {2}, std::vector<double>{1, 20000000}),
                           g.constant(DType::i32, {2}, std::vector<double>{1, 20000001})));
    EXPECT_TRUE(same_form(k + 20000000 + 1, k + 20000001));
    // 2^53 and 2^53 + 1 round to the same double.
    EXPECT_FALSE(same_form(l + 0x1p52 + 0x1p52, l + 0x1p52 + 0x1p52 + 1));
    EXPECT_FALSE(same_form(l * 0 + 0x1p52 + 0x1p52, l * 0 + 0x1p52 + 0x1p52 + 1));
}

// Coefficients and offsets beyond 64 bits form no sums of sizes; integers wrap there.
TEST(NormalizeInteger, IntegersThatWrapHaveForms) {
    Graph g("g");
    const Tensor l = g.input("l", DType::i64, {4});
    Tensor y = l + 0x1p52;
    for (int i = 0; i < 4; ++i) y = y * 1000003;
    Tensor far = iota(g, 4, DType::i64, std::int64_t{1} << 62);
    const Tensor beyond = far + far + far, below = far <= -far - far;
    const normal_form::NormalForms forms(*g.data());
    EXPECT_FALSE(forms.normalizer().same(forms[beyond.id()], forms[y.id()]));
    EXPECT_FALSE(forms.normalizer().same(forms[below.id()], forms[y.id()]));
}

// Positions that exceed i32 wrap there, but not in i64.
TEST(NormalizeInteger, PositionsThatWrapAreDifferent) {
    Graph g("g");
    const Tensor narrow = cast(iota(g, 4) + 2147483646, DType::i64), wide = iota(g, 4, DType::i64) + 2147483646;
    const normal_form::NormalForms forms(*g.data());
    EXPECT_FALSE(forms.normalizer().same(forms[narrow.id()], forms[wide.id()]));
}

TEST(NormalizeInteger, PositionsMayStartAtAnySymbolicSize) {
    Graph g("g");
    const Dim n = g.symbol("N", 0, 8), p = g.symbol("P", 0, 8);
    EXPECT_TRUE(same_form(iota(g, n, DType::i32, p) + 1, iota(g, n, DType::i32, p + 1)));
    EXPECT_TRUE(same_form(iota(g, n) + g.constant(DType::i32, p), iota(g, n, DType::i32, p)));
    EXPECT_FALSE(same_form(iota(g, n) + g.constant(DType::i32, p), iota(g, n) + g.constant(DType::i32, n)));
    EXPECT_FALSE(same_form(iota(g, 1), iota(g, 1, DType::i32, 1)));
}

TEST(NormalizeInteger, ComparisonsOfPositionsCompareDifferences) {
    Graph g("g");
    const Dim n = g.symbol("N", 1, 8);
    const Tensor i = unsqueeze(iota(g, n), -1), j = iota(g, n);
    EXPECT_TRUE(same_form(j <= i, i - j >= 0));
    EXPECT_TRUE(same_form(j <= i, j < i + 1));
    EXPECT_TRUE(same_form(j <= i, !(j > i)));
    EXPECT_FALSE(same_form(j <= i, j < i));
    EXPECT_FALSE(same_form(j <= i, i <= j));
}

}  // namespace
}  // namespace cairn::test
