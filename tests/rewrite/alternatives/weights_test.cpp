#include "rewrite/alternatives/weights.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

using alternatives::Expander;
using ir::Op;

struct Weights {
    Graph graph{"g"};
    Tensor x = graph.input("x", DType::f32, {4}), row = graph.weight("row", DType::f32, {1, 4}),
           column = graph.weight("column", DType::f32, {4, 1}), one = graph.weight("one", DType::f32, {1, 1}),
           tall = graph.weight("tall", DType::f32, {6}), stored = graph.weight("stored", DType::f32, {4, 6}),
           w = graph.weight("w", DType::f32, {6, 4}), transposed = transpose(stored, {1, 0});
};

TEST(ExpandWeights, DetectsRowsAndScalars) {
    const Weights g;
    const Expander e(*g.graph.data(), {});
    EXPECT_TRUE(is_bound_row(e, g.row.id(), 4));
    EXPECT_FALSE(is_bound_row(e, g.row.id(), 5));
    EXPECT_FALSE(is_bound_row(e, g.x.id(), 4)) << "given";
    EXPECT_FALSE(is_bound_row(e, g.column.id(), 1));
    EXPECT_TRUE(is_bound_scalar(e, g.one.id()));
    EXPECT_FALSE(is_bound_scalar(e, g.row.id()));
    EXPECT_EQ(stored_matrix(e, g.transposed.id()), g.stored.id());
    EXPECT_FALSE(stored_matrix(e, g.w.id()));
}

TEST(ExpandWeights, TransposedViewsRemainViews) {
    const Weights g;
    Expander e(*g.graph.data(), {});
    const auto check = [&](std::optional<ir::NodeId> dense, std::optional<ir::NodeId> transposed) {
        ASSERT_TRUE(dense && transposed);
        EXPECT_EQ(e.node(*dense).op, Op::mul);
        EXPECT_EQ(e.node(*transposed).op, Op::transpose);
        EXPECT_EQ(e.node(e.node(*transposed).operands[0]).op, Op::mul);
        EXPECT_EQ(e.node(*transposed).shape, g.transposed.shape());
    };
    for (const Tensor& factor : {g.one, g.row})
        check(scaled_columns(e, Op::mul, g.w.id(), factor.id()),
              scaled_columns(e, Op::mul, g.transposed.id(), factor.id()));
    for (const Tensor& factor : {g.one, g.tall})
        check(scaled_rows(e, Op::mul, g.w.id(), factor.id()), scaled_rows(e, Op::mul, g.transposed.id(), factor.id()));
}

TEST(ExpandWeights, ProductsAndSumsOfTransposedWeightsRemainViews) {
    const Weights g;
    Expander e(*g.graph.data(), {});
    const auto back = transposed(e, g.transposed.id());
    EXPECT_EQ(back, g.stored.id());
    const auto other = transposed(e, g.w.id());
    ASSERT_TRUE(other);
    EXPECT_EQ(e.node(*other).op, Op::transpose);
    const auto product = matrix_product(e, g.transposed.id(), *other);
    ASSERT_TRUE(product);
    ASSERT_EQ(e.node(*product).op, Op::transpose);
    EXPECT_EQ(e.node(e.node(*product).operands[0]).operands[0], g.w.id());
    EXPECT_EQ(e.node(e.node(*product).operands[0]).operands[1], g.stored.id());
    EXPECT_EQ(e.node(*matrix_product(e, g.transposed.id(), g.stored.id())).op, Op::matmul);
    const auto sum = matrix_sum(e, Op::sub, g.transposed.id(), g.transposed.id());
    ASSERT_TRUE(sum);
    EXPECT_EQ(e.node(*sum).op, Op::transpose);
    EXPECT_EQ(e.node(*matrix_sum(e, Op::add, g.w.id(), g.transposed.id())).op, Op::add);
    EXPECT_FALSE(matrix_product(e, g.w.id(), g.w.id())) << "[6,4] [6,4]";
}

TEST(ExpandWeights, SlicesOfTransposedViewsRemainViews) {
    const Weights g;
    Expander e(*g.graph.data(), {});
    const auto cut = [](int axis) {
        return Attributes{{"axis", std::vector<Dim>{axis}},
                          {"start", std::vector<Dim>{1}},
                          {"stop", std::vector<Dim>{3}},
                          {"step", std::vector<Dim>{1}}};
    };
    const auto plain = sliced(e, g.w.id(), cut(-1), g.w.id()), rows = sliced(e, g.transposed.id(), cut(-2), g.w.id()),
               columns = sliced(e, g.transposed.id(), cut(-1), g.w.id());
    ASSERT_TRUE(plain && rows && columns);
    EXPECT_EQ(e.node(*plain).op, Op::slice);
    for (const ir::NodeId part : {*rows, *columns}) {
        ASSERT_EQ(e.node(part).op, Op::transpose);
        EXPECT_EQ(e.node(e.node(part).operands[0]).operands[0], g.stored.id());
    }
    EXPECT_EQ(e.node(*rows).shape, (Shape{2, 4}));
    EXPECT_EQ(e.node(*columns).shape, (Shape{6, 2}));
    EXPECT_FALSE(sliced(e, g.column.id(), cut(-1), g.w.id())) << "beyond its size";
}

TEST(ExpandWeights, ConcatenatesColumns) {
    const Weights g;
    Expander e(*g.graph.data(), {});
    const auto mixed = concat_columns(e, {g.w.id(), g.transposed.id()}),
               transposed = concat_columns(e, {g.transposed.id(), g.transposed.id()});
    ASSERT_TRUE(mixed && transposed);
    EXPECT_EQ(e.node(*mixed).op, Op::concat);
    EXPECT_EQ(e.node(*transposed).op, Op::transpose);
    for (const ir::NodeId whole : {*mixed, *transposed}) EXPECT_EQ(e.node(whole).shape, (Shape{6, 8}));
    EXPECT_EQ(e.node(*row_times(e, g.tall.id(), g.w.id())).shape, (Shape{4}));
    EXPECT_EQ(as_row(e, g.tall.id()), g.tall.id());
}

}  // namespace
}  // namespace cairn::test
