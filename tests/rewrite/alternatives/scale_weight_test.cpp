#include "equivalence_cases.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(ScaleWeight, AScalarAfterABias) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,4]
%1 = weight "w" : f32[4,5]
%2 = matmul %0, %1 : f32[N,5]
%3 = weight "b" : f32[5]
%4 = add %2, %3 : f32[N,5]
%5 = constant 0.125 : f32[]
%6 = mul %4, %5 : f32[N,5]
output "y" %6
)",
                       "scale_weight"),
              R"(
%0 = weight "w" : f32[4,5]
%1 = weight "b" : f32[5]
%2 = constant 0.125 : f32[]
%3 = mul %0, %2 : f32[4,5]
%4 = mul %1, %2 : f32[5]
%5 = input "x" : f32[N,4]
%6 = matmul %5, %3 : f32[N,5]
%7 = matmul %5, %0 : f32[N,5]
%8 = add %7, %1 : f32[N,5]
%9 = mul %8, %2 : f32[N,5]
%10 = add %6, %4 : f32[N,5]
output "y" %9
%9 = %10 distributed
)");
}

TEST(ScaleWeight, ARowAfterAStoredWeight) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[2,N,4]
%1 = weight "w" : f32[5,4]
%2 = transpose %1 permutation=(-1,-2) : f32[4,5]
%3 = matmul %0, %2 : f32[2,N,5]
%4 = weight "c" : f32[1,1,5]
%5 = mul %4, %3 : f32[2,N,5]
output "y" %5
)",
                       "scale_weight"),
              R"(
%0 = weight "w" : f32[5,4]
%1 = transpose %0 permutation=(-1,-2) : f32[4,5]
%2 = weight "c" : f32[1,1,5]
%3 = reshape %2 shape=(5,1) : f32[5,1]
%4 = mul %0, %3 : f32[5,4]
%5 = transpose %4 permutation=(-1,-2) : f32[4,5]
%6 = input "x" : f32[2,N,4]
%7 = matmul %6, %1 : f32[2,N,5]
%8 = mul %2, %7 : f32[2,N,5]
%9 = matmul %6, %5 : f32[2,N,5]
output "y" %8
%8 = %9 distributed
)");
}

TEST(ScaleWeight, DivisionByARow) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,4]
%1 = weight "w" : f32[4,5]
%2 = matmul %0, %1 : f32[N,5]
%3 = weight "c" : f32[5]
%4 = div %2, %3 : f32[N,5]
output "y" %4
)",
                       "scale_weight"),
              R"(
%0 = weight "w" : f32[4,5]
%1 = weight "c" : f32[5]
%2 = div %0, %1 : f32[4,5]
%3 = input "x" : f32[N,4]
%4 = matmul %3, %0 : f32[N,5]
%5 = div %4, %1 : f32[N,5]
%6 = matmul %3, %2 : f32[N,5]
output "y" %5
%5 = %6 distributed
)");
}

TEST(ScaleWeight, OnlyABoundFactorOfAProductWithOneReader) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), w = g.weight("w", DType::f32, {4, 5});
    const Tensor read_twice = matmul(x, w), given = matmul(tanh(x), w), column = matmul(sin(x), w);
    g.output("a", read_twice * 2 + exp(read_twice));
    g.output("b", given * g.input("c", DType::f32, {5}));
    g.output("c", column * g.weight("column", DType::f32, {3, 1}));
    g.output("d", 2 / matmul(cos(x), w));
    g.output("e", matmul(g.input("left", DType::f32, {3, 3}), x) * 2);
    EXPECT_TRUE(checked_expansion(g, "scale_weight").classes.have_one_expression_each());
}

}  // namespace
}  // namespace cairn::test
