#include "fusion/position_comparison.hpp"

#include "cairn/ops.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace cairn::test {
namespace {

using T = const Tensor&;

/// Comparisons of rows [T,1] with columns [S], and the distance between two of them.
class PositionComparisonTest : public testing::Test {
protected:
    Graph g{"g"};
    Dim t = g.symbol("T", 1, 9), s = g.symbol("S", 1, 9);
    Tensor rows = reshape(iota(g, t), {t, 1}), columns = iota(g, s);

    std::optional<double> distance(T from, T to) {
        const normal_form::NormalForms forms(*g.data());
        const auto read = [&](T x) { return fusion::comparison_of(forms.normalizer(), forms[x.id()].core); };
        const auto a = read(from), b = read(to);
        return a && b ? a->distance_to(*b) : std::nullopt;
    }
};

TEST_F(PositionComparisonTest, DistanceIsTheDifferenceOfTheConstants) {
    EXPECT_EQ(distance(rows - columns < 4, rows - columns < 4), 0);
    const auto step = distance(rows - columns < 4, rows - columns < 5);
    ASSERT_TRUE(step);
    EXPECT_EQ(std::abs(*step), 1);
    EXPECT_EQ(distance(rows - columns<4, columns> rows - 11), 7 * *step);
    EXPECT_EQ(distance(rows - columns < 4, rows >= columns), -4 * *step) << "a negation";
    EXPECT_EQ(distance(rows - columns<4 + t, columns> rows - t), -4 * *step) << "sizes that go";
}

TEST_F(PositionComparisonTest, OtherComparisonsHaveNoDistance) {
    EXPECT_EQ(distance(rows - columns < 4, 2 * rows - columns < 4), std::nullopt);
    EXPECT_EQ(distance(rows - columns < 4, rows < 4), std::nullopt);
    EXPECT_EQ(distance(rows - columns < 4, rows - columns < t), std::nullopt);
    EXPECT_EQ(distance(rows - columns < 4, rows == columns), std::nullopt);
    const Tensor x = g.input("x", DType::i32, {s}), y = g.input("y", DType::f32, {s});
    EXPECT_EQ(distance(x < 4, x < 5), std::nullopt) << "numbers that wrap";
    EXPECT_EQ(distance(y < 4, y < 5), std::nullopt);
}

}  // namespace
}  // namespace cairn::test
