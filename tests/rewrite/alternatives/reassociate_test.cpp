#include "equivalence_cases.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(Reassociate, FactorsOfAWeightAreMultipliedOnce) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,M,4]
%1 = weight "a" : f32[4,3]
%2 = matmul %0, %1 : f32[N,M,3]
%3 = weight "b" : f32[3,5]
%4 = matmul %2, %3 : f32[N,M,5]
output "y" %4
)",
                       "reassociate"),
              R"(
%0 = weight "a" : f32[4,3]
%1 = weight "b" : f32[3,5]
%2 = matmul %0, %1 : f32[4,5]
%3 = input "x" : f32[N,M,4]
%4 = matmul %3, %0 : f32[N,M,3]
%5 = matmul %4, %1 : f32[N,M,5]
%6 = matmul %3, %2 : f32[N,M,5]
output "y" %5
%5 = %6 reassociated
)");
}

TEST(Reassociate, StoredTransposed) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,4]
%1 = weight "a" : f32[3,4]
%2 = transpose %1 permutation=(-1,-2) : f32[4,3]
%3 = matmul %0, %2 : f32[N,3]
%4 = weight "b" : f32[5,3]
%5 = transpose %4 permutation=(-1,-2) : f32[3,5]
%6 = matmul %3, %5 : f32[N,5]
output "y" %6
)",
                       "reassociate"),
              R"(
%0 = weight "a" : f32[3,4]
%1 = transpose %0 permutation=(-1,-2) : f32[4,3]
%2 = weight "b" : f32[5,3]
%3 = transpose %2 permutation=(-1,-2) : f32[3,5]
%4 = matmul %2, %0 : f32[5,4]
%5 = transpose %4 permutation=(-1,-2) : f32[4,5]
%6 = input "x" : f32[N,4]
%7 = matmul %6, %1 : f32[N,3]
%8 = matmul %7, %3 : f32[N,5]
%9 = matmul %6, %5 : f32[N,5]
output "y" %8
%8 = %9 reassociated
)");
}

TEST(Reassociate, ALowRankWeightIsFactored) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,9]
%1 = weight "b" : f32[8,2]
%2 = weight "a" : f32[2,9]
%3 = matmul %1, %2 : f32[8,9]
%4 = transpose %3 permutation=(-1,-2) : f32[9,8]
%5 = matmul %0, %4 : f32[N,8]
output "y" %5
)",
                       "reassociate"),
              R"(
%0 = weight "b" : f32[8,2]
%1 = weight "a" : f32[2,9]
%2 = matmul %0, %1 : f32[8,9]
%3 = transpose %2 permutation=(-1,-2) : f32[9,8]
%4 = transpose %1 permutation=(-1,-2) : f32[9,2]
%5 = transpose %0 permutation=(-1,-2) : f32[2,8]
%6 = input "x" : f32[N,9]
%7 = matmul %6, %4 : f32[N,2]
%8 = matmul %6, %3 : f32[N,8]
%9 = matmul %7, %5 : f32[N,8]
output "y" %8
%8 = %9 reassociated
)");
}

// (q k) v = q (k v), with a batch for each.
TEST(Reassociate, GivenFactors) {
    EXPECT_EQ(expanded(R"(
%0 = input "q" : f32[M,6,2]
%1 = input "k" : f32[M,2,6]
%2 = matmul %0, %1 : f32[M,6,6]
%3 = input "v" : f32[M,6,2]
%4 = matmul %2, %3 : f32[M,6,2]
output "y" %4
)",
                       "reassociate"),
              R"(
%0 = input "q" : f32[M,6,2]
%1 = input "k" : f32[M,2,6]
%2 = matmul %0, %1 : f32[M,6,6]
%3 = input "v" : f32[M,6,2]
%4 = matmul %1, %3 : f32[M,2,2]
%5 = matmul %2, %3 : f32[M,6,2]
%6 = matmul %0, %4 : f32[M,6,2]
output "y" %5
%5 = %6 reassociated
)");
}

// Matrices times a column: reordering the whole chain pays, and so does a single step.
TEST(Reassociate, AllOrdersOfAChain) {
    Graph g("g");
    const auto square = [&](const char* name) { return g.input(name, DType::f32, {6, 6}); };
    g.output("y", matmul(matmul(matmul(square("a"), square("b")), square("c")), g.input("x", DType::f32, {6, 1})));
    const alternatives::Expansion expansion = checked_expansion(g, "reassociate");
    const ir::GraphData& graph = *expansion.graph;
    const auto all = expansion.classes.expressions(graph.outputs()[0].node);
    ASSERT_EQ(all.size(), 3u);
    const auto side = [&](ir::NodeId id, std::size_t at) { return graph.node(id).operands[at]; };
    EXPECT_EQ(to_string(graph.node(side(side(all[1], 1), 1)).shape), "[6,1]") << "(a b) (c x)";
    EXPECT_EQ(graph.node(side(side(all[2], 1), 1)).op, ir::Op::matmul) << "a (b (c x))";
}

TEST(Reassociate, KeepsUnprofitableOrSharedProducts) {
    Graph g("g");
    const Dim n = g.symbol("N", 0, 8);
    const Tensor x = g.input("x", DType::f32, {n, 8});
    const auto weight = [&](const char* name, int rows, int columns) {
        return g.weight(name, DType::f32, {rows, columns});
    };
    g.output("low", matmul(matmul(x, weight("a", 8, 1)), weight("b", 1, 8)));
    g.output("high", matmul(x, matmul(weight("c", 8, 7), weight("d", 7, 8))));
    const Tensor seen = matmul(x, weight("e", 8, 8));
    g.output("seen", seen);
    g.output("next", matmul(seen, weight("f", 8, 8)));
    const Tensor i = cast(x, DType::i32);
    g.output("whole", matmul(matmul(i, cast(weight("g", 8, 8), DType::i32)), cast(weight("h", 8, 8), DType::i32)));
    const Tensor tall = g.input("tall", DType::f32, {g.symbol("M", 8, 64), 8});
    g.output("tall", matmul(tall, matmul(swap_axes(tall, 0, 1), tall)));
    EXPECT_TRUE(checked_expansion(g, "reassociate").classes.have_one_expression_each());
}

// Each product has at most two further expressions, of at most eight factors.
TEST(Reassociate, GrowsWithTheChain) {
    const auto size = [](int count) {
        Graph g("g");
        Tensor x = g.input("x", DType::f32, {2, 6});
        for (int i = 0; i < count; ++i) x = matmul(x, g.weight("w" + std::to_string(i), DType::f32, {6, 6}));
        g.output("y", x);
        const alternatives::Expansion expansion = alternatives::expand(*g.data());
        EXPECT_LE(expansion.classes.most(), 3u);
        return expansion.graph->nodes().size();
    };
    EXPECT_GT(size(10), 21u);
    EXPECT_LE(size(400), 11 * size(40));
}

}  // namespace
}  // namespace cairn::test
