#include "selection/candidates/result_view.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace cairn::selection {
namespace {

class ResultViewTest : public testing::Test {
protected:
    Graph g{"g"};
    const Dim t = g.symbol("T", 1, 4), past = g.symbol("P", 0, 8);
    const Tensor x = g.input("x", DType::f32, {t, 6});
    State rows = g.state("rows", DType::f32, {past, 6}, 0, 16);
    State heads = g.state("heads", DType::f32, {2, past, 3}, 1, 16);
    State fixed = g.state("fixed", DType::f32, {2, 6});

    const ir::GraphData& graph() const { return *g.data(); }
    /// The match of that op whose result is moved.
    fusion::Match ending(std::string_view op) const {
        for (const fusion::Match& match : fusion::propose(graph(), std::span<const Definition>()))
            if (!match.moved.empty() && match.definition == op) return match;
        throw std::runtime_error("no such match");
    }
    std::optional<ResultView> result_view_of(std::string_view op, bool by_element) const {
        return result_view(graph(), ending(op), 0, views_of(graph()), by_element);
    }
    bool reads_late(std::string_view op) const {
        return may_read_overwritten_state(graph(), alternatives::EClasses(graph()), views_of(graph()), ending(op));
    }
};

using Strides = std::vector<Dim>;

TEST_F(ResultViewTest, RowsHaveTheStridesOfTheState) {
    rows.append(exp(x));
    const auto view = result_view_of("exp", false);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->shape, (Shape{t, 6}));
    EXPECT_EQ(view->strides, (Strides{6, 1}));
    EXPECT_EQ(view->moves, 0U);
}

TEST_F(ResultViewTest, TransposedRowsAreWrittenWithStrides) {
    heads.append(transpose(exp(reshape(x, {t, 2, 3})), {1, 0, 2}));
    const auto view = result_view_of("exp", false);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->shape, (Shape{t, 2, 3}));
    EXPECT_EQ(view->strides, (Strides{3, 48, 1}));
}

TEST_F(ResultViewTest, ConsecutiveAxesCanBeMerged) {
    State wide = g.state("wide", DType::f32, {past, 2, 3}, 0, 16);
    wide.append(reshape(exp(x), {t, 2, 3}));
    const auto view = result_view_of("exp", false);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->shape, (Shape{t, 6}));
    EXPECT_EQ(view->strides, (Strides{6, 1}));
}

TEST_F(ResultViewTest, HeadsAreMergedAsTheyAreWritten) {
    g.output("y", sin(reshape(transpose(exp(reshape(x, {2, t, 3})), {1, 0, 2}), {t, 6})));
    const auto view = result_view_of("exp", false);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->shape, (Shape{2, t, 3}));
    EXPECT_EQ(view->strides, (Strides{3, 6, 1}));
    EXPECT_EQ(view->moves, 0U);
}

TEST_F(ResultViewTest, ATransposedOutputIsDense) {
    g.output("y", transpose(exp(x), {1, 0}));
    const auto view = result_view_of("exp", false);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->shape, (Shape{t, 6}));
    EXPECT_EQ(view->strides, (Strides{1, t}));
}

// Of each row of six elements, three lie in the memory of one head and three in that of the other.
TEST_F(ResultViewTest, WithoutMatchingStridesTheShapeOfTheRowsIsRequired) {
    heads.append(transpose(reshape(exp(x), {t, 2, 3}), {1, 0, 2}));
    EXPECT_FALSE(result_view_of("exp", false));
    const auto view = result_view_of("exp", true);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->shape, (Shape{t, 2, 3}));
    EXPECT_EQ(view->strides, (Strides{3, 48, 1}));
    EXPECT_EQ(view->moves, 1U);
}

class ColumnsOfProducts : public ResultViewTest {
protected:
    const Tensor w = g.input("w", DType::f32, {6, 9});
    Tensor columns(const Tensor& of) const { return slice(matmul(of, w), -1, 2, 8); }
    /// Of the match that appends them.
    std::optional<ResultView> result_view_of() const {
        for (const fusion::Match& match : fusion::propose(graph(), std::span<const Definition>()))
            for (std::size_t i = 1; i < match.outputs.size(); ++i)
                if (is_state_version(graph().node(match.outputs[i])))
                    return columns_view(graph(), match, i, views_of(graph()));
        throw std::runtime_error("no such match");
    }
};

TEST_F(ColumnsOfProducts, MayBeSeveralTrailingAxes) {
    heads.append(transpose(reshape(columns(x), {t, 2, 3}), {1, 0, 2}));
    const auto view = result_view_of();
    ASSERT_TRUE(view);
    EXPECT_EQ(view->shape, (Shape{t, 2, 3}));
    EXPECT_EQ(view->strides, (Strides{3, 48, 1}));
}

TEST_F(ColumnsOfProducts, HaveTheStridesOfTheState) {
    rows.append(columns(x));
    const auto view = result_view_of();
    ASSERT_TRUE(view);
    EXPECT_EQ(view->shape, (Shape{t, 6}));
    EXPECT_EQ(view->strides, (Strides{6, 1}));
}

// One row is split into heads by a reshape alone, which puts the row axis behind the head axis.
TEST_F(ColumnsOfProducts, OfOneRowAreWrittenToHeads) {
    heads.append(reshape(columns(slice(x, 0, 0, 1)), {2, 1, 3}));
    const auto view = result_view_of();
    ASSERT_TRUE(view);
    EXPECT_EQ(view->shape, (Shape{1, 2, 3}));
    EXPECT_EQ((Strides{view->strides[1], view->strides[2]}), (Strides{48, 1}));
}

// There are as many rows as heads, so that shapes alone are ambiguous.
TEST_F(ColumnsOfProducts, InAnotherOrderHaveNoResultView) {
    heads.append(reshape(transpose(columns(g.input("two", DType::f32, {2, 6})), {1, 0}), {2, 2, 3}));
    EXPECT_FALSE(result_view_of());
}

TEST_F(ResultViewTest, OperandsAreReadThroughTheMovements) {
    heads.append(transpose(reshape(exp(x), {t, 2, 3}), {1, 0, 2}));
    const fusion::Nodes moved = ending("exp").moved[0];
    EXPECT_EQ(strides_through(graph(), moved, 0, {6, 1}), (Strides{6, 1}));
    EXPECT_EQ(strides_through(graph(), moved, 1, {6, 1}), (Strides{6, 3, 1}));
    EXPECT_EQ(strides_through(graph(), moved, 2, {6, 1}), (Strides{3, 6, 1}));
    EXPECT_EQ(strides_through(graph(), moved, 2, {0, 1}), (Strides{3, 0, 1})) << "a row that is repeated";
    EXPECT_EQ(strides_through(graph(), moved, 1, {1, 0}), (Strides{1, 0, 0})) << "a column that is";
}

TEST_F(ResultViewTest, OperandsWithoutSuchStridesAreDetected) {
    State flat = g.state("flat", DType::f32, {past}, 0, 99);
    flat.append(reshape(exp(transpose(x, {1, 0})), {t * 6}));
    EXPECT_FALSE(strides_through(graph(), ending("exp").moved[0], 1, {1, 6}));
    EXPECT_EQ(strides_through(graph(), ending("exp").moved[0], 1, {t, 1}), (Strides{1}));
}

TEST_F(ResultViewTest, OnlyOverwrittenStatesHaveLateReads) {
    const Tensor before = rows.read();
    rows.append(exp(slice(before, 0, 0, 0) + 1.0F));
    rows.append(sin(slice(fixed.read(), 0, 0, 1)));
    EXPECT_FALSE(reads_late("elementwise"));
    EXPECT_FALSE(reads_late("sin"));
    fixed.assign(fixed.read() * 2.0F);
    EXPECT_TRUE(reads_late("sin")) << "the write may have to come first";
    EXPECT_FALSE(reads_late("elementwise"));
}

}  // namespace
}  // namespace cairn::selection
