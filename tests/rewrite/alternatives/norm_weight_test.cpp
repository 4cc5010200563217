#include "equivalence_cases.hpp"

#include "cairn/composites.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(NormWeight, GammaOnly) {
    EXPECT_EQ(expanded(R"(
%0 = input "n" : f32[N,4]
%1 = weight "g" : f32[4]
%2 = mul %0, %1 : f32[N,4]
%3 = weight "w" : f32[4,5]
%4 = matmul %2, %3 : f32[N,5]
output "y" %4
)",
                       "norm_weight"),
              R"(
%0 = weight "g" : f32[4]
%1 = weight "w" : f32[4,5]
%2 = reshape %0 shape=(4,1) : f32[4,1]
%3 = mul %1, %2 : f32[4,5]
%4 = input "n" : f32[N,4]
%5 = mul %4, %0 : f32[N,4]
%6 = matmul %5, %1 : f32[N,5]
%7 = matmul %4, %3 : f32[N,5]
output "y" %6
%6 = %7 distributed
)");
}

TEST(NormWeight, GammaAndBetaBeforeABiasedStoredWeight) {
    EXPECT_EQ(expanded(R"(
%0 = input "n" : f32[N,3,4]
%1 = weight "g" : f32[4]
%2 = mul %1, %0 : f32[N,3,4]
%3 = weight "r" : f32[4]
%4 = add %3, %2 : f32[N,3,4]
%5 = weight "w" : f32[1,4]
%6 = weight "stored" : f32[5,4]
%7 = transpose %6 permutation=(-1,-2) : f32[4,5]
%8 = matmul %4, %7 : f32[N,3,5]
%9 = weight "b" : f32[5]
%10 = add %9, %8 : f32[N,3,5]
output "y" %10
)",
                       "norm_weight"),
              R"(
%0 = weight "g" : f32[4]
%1 = weight "r" : f32[4]
%2 = weight "w" : f32[1,4]
%3 = weight "stored" : f32[5,4]
%4 = transpose %3 permutation=(-1,-2) : f32[4,5]
%5 = weight "b" : f32[5]
%6 = mul %3, %0 : f32[5,4]
%7 = transpose %6 permutation=(-1,-2) : f32[4,5]
%8 = reshape %1 shape=(1,4) : f32[1,4]
%9 = matmul %8, %4 : f32[1,5]
%10 = reshape %9 shape=(5) : f32[5]
%11 = add %10, %5 : f32[5]
%12 = input "n" : f32[N,3,4]
%13 = matmul %12, %7 : f32[N,3,5]
%14 = mul %0, %12 : f32[N,3,4]
%15 = add %1, %14 : f32[N,3,4]
%16 = matmul %15, %4 : f32[N,3,5]
%17 = add %5, %16 : f32[N,3,5]
%18 = add %13, %11 : f32[N,3,5]
output "y" %17
%17 = %18 distributed
)");
}

TEST(NormWeight, AProductThatIsAlsoReadWithoutItsBias) {
    EXPECT_EQ(expanded(R"(
%0 = input "n" : f32[3,4]
%1 = weight "g" : f32[4]
%2 = div %0, %1 : f32[3,4]
%3 = weight "r" : f32[4]
%4 = add %2, %3 : f32[3,4]
%5 = weight "w" : f32[4,5]
%6 = matmul %4, %5 : f32[3,5]
%7 = weight "b" : f32[5]
%8 = add %6, %7 : f32[3,5]
%9 = tanh %6 : f32[3,5]
output "y" %8
output "z" %9
)",
                       "norm_weight"),
              R"(
%0 = weight "g" : f32[4]
%1 = weight "r" : f32[4]
%2 = weight "w" : f32[4,5]
%3 = weight "b" : f32[5]
%4 = reshape %0 shape=(4,1) : f32[4,1]
%5 = div %2, %4 : f32[4,5]
%6 = reshape %1 shape=(1,4) : f32[1,4]
%7 = matmul %6, %2 : f32[1,5]
%8 = reshape %7 shape=(5) : f32[5]
%9 = add %8, %3 : f32[5]
%10 = input "n" : f32[3,4]
%11 = matmul %10, %5 : f32[3,5]
%12 = div %10, %0 : f32[3,4]
%13 = add %12, %1 : f32[3,4]
%14 = matmul %13, %2 : f32[3,5]
%15 = add %11, %8 : f32[3,5]
%16 = add %14, %3 : f32[3,5]
%17 = add %11, %9 : f32[3,5]
%18 = tanh %14 : f32[3,5]
output "y" %16
output "z" %18
%14 = %15 distributed
%16 = %17 distributed
)");
}

TEST(NormWeight, NormsOfComposites) {
    for (const int columns : {1, 6})
        for (const Shape& rows : {Shape{1}, Shape{2, 3}}) {
            Graph g("g");
            Shape shape = rows;
            shape.emplace_back(4);
            const Tensor x = g.input("x", DType::f32, shape), gamma = g.weight("gamma", DType::f32, {4}),
                         beta = g.weight("beta", DType::f32, {4}), w = g.weight("w", DType::f32, {4, columns}),
                         b = g.weight("b", DType::f32, {columns});
            g.output("layer", linear(layer_norm(x, gamma, beta, 1e-5), w, b));
            g.output("rms", matmul(rms_norm(x, gamma, 1e-5), w));
            const alternatives::Expansion expansion = checked_expansion(g, "norm_weight");
            for (const ir::Output& output : expansion.graph->outputs())
                EXPECT_EQ(expansion.classes.expressions(output.node).size(), 2u) << output.name << columns;
        }
}

TEST(NormWeight, OnlyBoundRowsBeforeABoundWeight) {
    Graph g("g");
    const Tensor n = g.input("n", DType::f32, {3, 4}), w = g.weight("w", DType::f32, {4, 5}),
                 gamma = g.weight("gamma", DType::f32, {4});
    g.output("a", matmul(n * g.input("g", DType::f32, {4}), w));
    g.output("b", matmul(n * gamma, g.input("v", DType::f32, {4, 5})));
    g.output("c", matmul(n * g.weight("column", DType::f32, {3, 1}), w));
    g.output("d", matmul(n * gamma + g.input("r", DType::f32, {4}), w));
    g.output("e", matmul(gamma / n, w));
    EXPECT_TRUE(checked_expansion(g, "norm_weight").classes.have_one_expression_each());
}

}  // namespace
}  // namespace cairn::test
