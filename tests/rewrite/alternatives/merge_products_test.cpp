#include "equivalence_cases.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(MergeProducts, ProductsOfDifferentWidths) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,3,4]
%1 = weight "w1" : f32[4,5]
%2 = matmul %0, %1 : f32[N,3,5]
%3 = weight "w2" : f32[4,1]
%4 = matmul %0, %3 : f32[N,3,1]
output "y" %2
output "z" %4
)",
                       "merge_products"),
              R"(
%0 = weight "w1" : f32[4,5]
%1 = weight "w2" : f32[4,1]
%2 = concat %0, %1 axis=(-1) : f32[4,6]
%3 = input "x" : f32[N,3,4]
%4 = matmul %3, %2 : f32[N,3,6]
%5 = matmul %3, %0 : f32[N,3,5]
%6 = slice %4 axis=(-1) start=(0) stop=(5) step=(1) : f32[N,3,5]
%7 = matmul %3, %1 : f32[N,3,1]
%8 = slice %4 axis=(-1) start=(5) stop=(6) step=(1) : f32[N,3,1]
output "y" %5
output "z" %7
%5 = %6 exact
%7 = %8 exact
)");
}

TEST(MergeProducts, StoredTransposedWithBiases) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,M,4]
%1 = weight "q" : f32[6,4]
%2 = transpose %1 permutation=(-1,-2) : f32[4,6]
%3 = matmul %0, %2 : f32[N,M,6]
%4 = weight "qb" : f32[6]
%5 = add %4, %3 : f32[N,M,6]
%6 = weight "k" : f32[2,4]
%7 = transpose %6 permutation=(-1,-2) : f32[4,2]
%8 = matmul %0, %7 : f32[N,M,2]
%9 = weight "kb" : f32[1,2]
%10 = add %8, %9 : f32[N,M,2]
%11 = weight "v" : f32[2,4]
%12 = transpose %11 permutation=(-1,-2) : f32[4,2]
%13 = matmul %0, %12 : f32[N,M,2]
%14 = weight "vb" : f32[2]
%15 = add %14, %13 : f32[N,M,2]
output "q" %5
output "k" %10
output "v" %15
)",
                       "merge_products"),
              R"(
%0 = weight "q" : f32[6,4]
%1 = transpose %0 permutation=(-1,-2) : f32[4,6]
%2 = weight "qb" : f32[6]
%3 = weight "k" : f32[2,4]
%4 = transpose %3 permutation=(-1,-2) : f32[4,2]
%5 = weight "kb" : f32[1,2]
%6 = weight "v" : f32[2,4]
%7 = transpose %6 permutation=(-1,-2) : f32[4,2]
%8 = weight "vb" : f32[2]
%9 = concat %0, %3, %6 axis=(-2) : f32[10,4]
%10 = transpose %9 permutation=(-1,-2) : f32[4,10]
%11 = reshape %5 shape=(2) : f32[2]
%12 = concat %2, %11, %8 axis=(-1) : f32[10]
%13 = input "x" : f32[N,M,4]
%14 = matmul %13, %10 : f32[N,M,10]
%15 = add %14, %12 : f32[N,M,10]
%16 = matmul %13, %1 : f32[N,M,6]
%17 = add %2, %16 : f32[N,M,6]
%18 = slice %15 axis=(-1) start=(0) stop=(6) step=(1) : f32[N,M,6]
%19 = matmul %13, %4 : f32[N,M,2]
%20 = add %19, %5 : f32[N,M,2]
%21 = slice %15 axis=(-1) start=(6) stop=(8) step=(1) : f32[N,M,2]
%22 = matmul %13, %7 : f32[N,M,2]
%23 = add %8, %22 : f32[N,M,2]
%24 = slice %15 axis=(-1) start=(8) stop=(10) step=(1) : f32[N,M,2]
output "q" %17
output "k" %20
output "v" %23
%17 = %18 exact
%20 = %21 exact
%23 = %24 exact
)");
}

TEST(MergeProducts, BiasesOfSomeProductsAreAddedLater) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[3,4]
%1 = weight "w1" : f32[4,5]
%2 = matmul %0, %1 : f32[3,5]
%3 = weight "b" : f32[5]
%4 = add %2, %3 : f32[3,5]
%5 = weight "w2" : f32[4,5]
%6 = matmul %0, %5 : f32[3,5]
output "y" %4
output "z" %6
)",
                       "merge_products"),
              R"(
%0 = weight "w1" : f32[4,5]
%1 = weight "b" : f32[5]
%2 = weight "w2" : f32[4,5]
%3 = concat %0, %2 axis=(-1) : f32[4,10]
%4 = input "x" : f32[3,4]
%5 = matmul %4, %3 : f32[3,10]
%6 = matmul %4, %0 : f32[3,5]
%7 = slice %5 axis=(-1) start=(0) stop=(5) step=(1) : f32[3,5]
%8 = add %6, %1 : f32[3,5]
%9 = matmul %4, %2 : f32[3,5]
%10 = slice %5 axis=(-1) start=(5) stop=(10) step=(1) : f32[3,5]
output "y" %8
output "z" %9
%6 = %7 exact
%9 = %10 exact
)");
}

// The products of x with `count` bound matrices, 1 to 3 columns wide.
Graph products(int count) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {g.symbol("N", 0, 3), 4});
    for (int i = 0; i < count; ++i) {
        const std::string name = std::to_string(i);
        g.output("y" + name, matmul(x, g.weight("w" + name, DType::f32, {4, 1 + i % 3})));
    }
    return g;
}

TEST(MergeProducts, AnyNumberUpToALimit) {
    for (const int count : {2, 3, 7, 64})
        EXPECT_EQ(count_of_expressions(products(count), "merge_products"), static_cast<std::size_t>(count));
    for (const int count : {1, 65}) EXPECT_EQ(count_of_expressions(products(count), "merge_products"), 0u);
}

TEST(MergeProducts, OnlyBoundWeightsWithACommonLeftOperand) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), other = g.input("other", DType::f32, {3, 4});
    const Tensor given = g.input("given", DType::f32, {4, 5}), w = g.weight("w", DType::f32, {4, 5});
    g.output("a", matmul(x, given));
    g.output("b", matmul(x, w));
    g.output("c", matmul(other, w));
    g.output("d", matmul(cast(x, DType::f64), g.weight("wide", DType::f64, {4, 5})));
    EXPECT_EQ(count_of_expressions(g, "merge_products"), 0u);
}

// (x q) c is also x (q c): this product, and not its intermediate x q, is merged with the others.
TEST(MergeProducts, ScaledWeightsReplaceTheirSteps) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4});
    const auto weight = [&](const char* name, int width) { return g.weight(name, DType::f32, {4, width}); };
    g.output("q", matmul(x, weight("q", 5)) * 0.125);
    g.output("k", matmul(x, weight("k", 3)));
    const alternatives::Expansion expansion = checked_expansion(g);
    const ir::NodeId q = expansion.graph->outputs()[0].node, k = expansion.graph->outputs()[1].node;
    const auto scaled = expansion.classes.expressions(q), plain = expansion.classes.expressions(k);
    ASSERT_EQ(scaled.size(), 3u);
    EXPECT_EQ(expansion.graph->node(scaled[1]).op, ir::Op::matmul);
    EXPECT_EQ(expansion.graph->node(scaled[2]).op, ir::Op::slice);
    EXPECT_EQ(expansion.classes.laws_of(scaled[2]), alternatives::Laws{alternatives::Law::distributed});
    ASSERT_EQ(plain.size(), 3u) << "merged with q, and with q c";
    EXPECT_TRUE(expansion.classes.laws_of(plain[1]).empty());
    EXPECT_TRUE(expansion.classes.laws_of(plain[2]).empty());
}

}  // namespace
}  // namespace cairn::test
