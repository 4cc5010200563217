#include "rewrite/alternatives/linear_ops.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

using alternatives::Expander, alternatives::LinearOp;
using ir::Op;

struct LinearOps {
    Graph graph{"g"};
    Tensor x = graph.input("x", DType::f32, {3, 4}), w = graph.weight("w", DType::f32, {4, 5}),
           b = graph.weight("b", DType::f32, {5}), biased = matmul(x, w), sum = biased + b, plain = matmul(sin(x), w),
           read = tanh(plain), bound = matmul(transpose(w, {1, 0}), w);
};

TEST(LinearOps, WithAndWithoutABias) {
    const LinearOps g;
    const Expander e(*g.graph.data(), {});
    const auto biased = linear_op_of(e, g.biased.id()), plain = linear_op_of(e, g.plain.id());
    ASSERT_TRUE(biased && plain);
    EXPECT_EQ(biased->value, g.sum.id());
    EXPECT_EQ(biased->bias, g.b.id());
    EXPECT_TRUE(biased->is_original);
    EXPECT_EQ(plain->value, g.plain.id());
    EXPECT_FALSE(plain->bias);
    EXPECT_FALSE(linear_op_of(e, g.bound.id()));
    EXPECT_FALSE(linear_op_of(e, g.sum.id()));
}

TEST(LinearOps, AreFoundAmongExpressions) {
    const LinearOps g;
    Expander e(*g.graph.data(), {});
    EXPECT_EQ(linear_ops_at(e, g.sum.id()).size(), 1u);
    EXPECT_TRUE(linear_ops_at(e, g.biased.id()).empty()) << "a part of the sum";
    EXPECT_EQ(linear_ops_at(e, g.plain.id()).size(), 1u);
    const auto twice = e.make(Op::mul, {g.w.id(), g.w.id()}, {}, g.w.id());
    const auto other = make_linear_op(e, g.x.id(), *twice, g.b.id(), g.sum.id());
    ASSERT_TRUE(other && e.join(g.sum.id(), *other, {alternatives::Law::distributed}));
    const std::vector<LinearOp> found = linear_ops_at(e, g.sum.id());
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[1].w, *twice);
    EXPECT_EQ(found[1].value, g.sum.id());
    EXPECT_FALSE(found[1].is_original);
    EXPECT_TRUE(found[1].laws.has(alternatives::Law::distributed));
}

}  // namespace
}  // namespace cairn::test
