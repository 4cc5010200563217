#include "equivalence_cases.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(Distribute, ProductsOfOneLeftSideAreAdded) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,M,4]
%1 = weight "w" : f32[5,4]
%2 = transpose %1 permutation=(-1,-2) : f32[4,5]
%3 = matmul %0, %2 : f32[N,M,5]
%4 = weight "v" : f32[5,4]
%5 = transpose %4 permutation=(-1,-2) : f32[4,5]
%6 = matmul %0, %5 : f32[N,M,5]
%7 = weight "b" : f32[5]
%8 = add %6, %7 : f32[N,M,5]
%9 = sub %3, %8 : f32[N,M,5]
output "y" %9
)",
                       "distribute"),
              R"(
%0 = weight "w" : f32[5,4]
%1 = transpose %0 permutation=(-1,-2) : f32[4,5]
%2 = weight "v" : f32[5,4]
%3 = transpose %2 permutation=(-1,-2) : f32[4,5]
%4 = weight "b" : f32[5]
%5 = sub %0, %2 : f32[5,4]
%6 = transpose %5 permutation=(-1,-2) : f32[4,5]
%7 = neg %4 : f32[5]
%8 = input "x" : f32[N,M,4]
%9 = matmul %8, %6 : f32[N,M,5]
%10 = matmul %8, %1 : f32[N,M,5]
%11 = matmul %8, %3 : f32[N,M,5]
%12 = add %11, %4 : f32[N,M,5]
%13 = sub %10, %12 : f32[N,M,5]
%14 = add %9, %7 : f32[N,M,5]
output "y" %13
%13 = %14 distributed reassociated
)");
}

// An adapter is added to the layer's weight: low-rank factors and a scale, stored as in linear layers.
TEST(Distribute, AnAdaptedLayer) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,9]
%1 = weight "w" : f32[9,9]
%2 = matmul %0, %1 : f32[N,9]
%3 = weight "b" : f32[9]
%4 = add %2, %3 : f32[N,9]
%5 = weight "down" : f32[9,1]
%6 = matmul %0, %5 : f32[N,1]
%7 = weight "up" : f32[1,9]
%8 = matmul %6, %7 : f32[N,9]
%9 = add %4, %8 : f32[N,9]
output "y" %9
)",
                       "distribute"),
              R"(
%0 = weight "w" : f32[9,9]
%1 = weight "b" : f32[9]
%2 = weight "down" : f32[9,1]
%3 = weight "up" : f32[1,9]
%4 = matmul %2, %3 : f32[9,9]
%5 = add %0, %4 : f32[9,9]
%6 = input "x" : f32[N,9]
%7 = matmul %6, %5 : f32[N,9]
%8 = matmul %6, %0 : f32[N,9]
%9 = add %8, %1 : f32[N,9]
%10 = matmul %6, %2 : f32[N,1]
%11 = matmul %10, %3 : f32[N,9]
%12 = add %9, %11 : f32[N,9]
%13 = add %7, %1 : f32[N,9]
output "y" %12
%12 = %13 distributed reassociated
)");
}

TEST(Distribute, ScaledProductsSharedByQueriesAndValues) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {g.symbol("N", 0, 4), 8});
    const auto weight = [&](std::string name, int rows, int columns) {
        return g.weight(std::move(name), DType::f32, {rows, columns});
    };
    const auto adapted = [&](const std::string& name) {
        const Tensor low = matmul(matmul(x, swap_axes(weight(name + ".a", 2, 8), 0, 1)), weight(name + ".b", 2, 8));
        return matmul(x, weight(name + ".w", 8, 8)) + g.weight(name + ".r", DType::f32, {8}) + low * 0.3;
    };
    g.output("q", tanh(adapted("q")));
    g.output("v", exp(adapted("v")));
    const alternatives::Expansion expansion = checked_expansion(g);
    const ir::GraphData& graph = *expansion.graph;
    for (const ir::Output& output : graph.outputs()) {
        const auto all = expansion.classes.expressions(graph.node(output.node).operands[0]);
        const auto count = [&](ir::Op op) {
            return std::count_if(all.begin() + 1, all.end(), [&](ir::NodeId id) { return graph.node(id).op == op; });
        };
        EXPECT_EQ(count(ir::Op::add), 1) << "x (w + a b) + r";
        EXPECT_EQ(count(ir::Op::slice), 1) << "of the product for both";
    }
}

TEST(Distribute, RepeatedTerms) {
    EXPECT_EQ(expanded(R"(
%0 = input "a" : f32[N,1,4]
%1 = input "b" : f32[M,4]
%2 = add %0, %1 : f32[N,M,4]
%3 = weight "w" : f32[4,5]
%4 = matmul %2, %3 : f32[N,M,5]
output "y" %4
)",
                       "distribute"),
              R"(
%0 = weight "w" : f32[4,5]
%1 = input "a" : f32[N,1,4]
%2 = matmul %1, %0 : f32[N,1,5]
%3 = input "b" : f32[M,4]
%4 = matmul %3, %0 : f32[M,5]
%5 = add %1, %3 : f32[N,M,4]
%6 = matmul %5, %0 : f32[N,M,5]
%7 = add %2, %4 : f32[N,M,5]
output "y" %6
%6 = %7 distributed reassociated
)");
}

TEST(Distribute, KeepsSharedAndInputProducts) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {3, 4}), y = g.input("y", DType::f32, {3, 4});
    const auto weight = [&](const char* name) { return g.weight(name, DType::f32, {4, 4}); };
    const Tensor seen = matmul(x, weight("a"));
    g.output("seen", seen);
    g.output("sum", seen + matmul(x, weight("b")));
    g.output("others", matmul(x, weight("c")) + matmul(y, weight("d")));
    g.output("given", matmul(y, g.input("e", DType::f32, {4, 4})) + matmul(y, g.input("f", DType::f32, {4, 4})));
    g.output("wider", matmul(sin(x), g.weight("h", DType::f32, {4, 1})) + matmul(sin(x), weight("i")));
    g.output("whole", matmul(x + y, weight("j")));
    g.output("column", matmul(x + g.input("column", DType::f32, {3, 1}), weight("k")));
    EXPECT_TRUE(checked_expansion(g, "distribute").classes.have_one_expression_each());
}

TEST(Distribute, GrowsWithTheSum) {
    const auto size = [](int count) {
        Graph g("g");
        const Tensor x = g.input("x", DType::f32, {2, 6});
        Tensor y = matmul(x, g.weight("w", DType::f32, {6, 6}));
        for (int i = 0; i < count; ++i) {
            const auto weight = [&](const char* name) {
                return g.weight(name + std::to_string(i), DType::f32, {6, 6});
            };
            y = y + matmul(matmul(x, weight("a")), weight("b"));
        }
        g.output("y", y);
        return alternatives::expand(*g.data()).graph->nodes().size();
    };
    EXPECT_LE(size(200), 10 * size(20));
}

}  // namespace
}  // namespace cairn::test
