#include "row_cases.hpp"

#include "cairn/composites.hpp"
#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(SliceProduct, RowsAreThoseOfTheLeftSide) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[2,M,4]
%1 = weight "w" : f32[4,5]
%2 = matmul %0, %1 : f32[2,M,5]
%3 = weight "b" : f32[5]
%4 = add %2, %3 : f32[2,M,5]
%5 = tanh %4 : f32[2,M,5]
%6 = slice %5 axis=(-2) start=(-1+M) stop=(M) step=(1) : f32[2,1,5]
output "y" %6
)",
                       "slice_product"),
              R"(
%0 = weight "w" : f32[4,5]
%1 = weight "b" : f32[5]
%2 = input "x" : f32[2,M,4]
%3 = slice %2 axis=(-2) start=(-1 + M) stop=(M) step=(1) : f32[2,1,4]
%4 = matmul %3, %0 : f32[2,1,5]
%5 = add %4, %1 : f32[2,1,5]
%6 = matmul %2, %0 : f32[2,M,5]
%7 = add %6, %1 : f32[2,M,5]
%8 = tanh %7 : f32[2,M,5]
%9 = slice %8 axis=(-2) start=(-1 + M) stop=(M) step=(1) : f32[2,1,5]
%10 = tanh %5 : f32[2,1,5]
output "y" %9
%9 = %10 exact
)");
}

TEST(SliceProduct, ColumnsOfAGivenMatrix) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,4]
%1 = input "w" : f32[4,6]
%2 = matmul %0, %1 : f32[N,6]
%3 = weight "b" : f32[6]
%4 = add %2, %3 : f32[N,6]
%5 = slice %4 axis=(-1) start=(0) stop=(2) step=(1) : f32[N,2]
%6 = slice %4 axis=(-1) start=(2) stop=(6) step=(1) : f32[N,4]
output "y" %5
output "z" %6
)",
                       "slice_product"),
              R"(
%0 = weight "b" : f32[6]
%1 = slice %0 axis=(-1) start=(0) stop=(2) step=(1) : f32[2]
%2 = slice %0 axis=(-1) start=(2) stop=(6) step=(1) : f32[4]
%3 = input "x" : f32[N,4]
%4 = input "w" : f32[4,6]
%5 = slice %4 axis=(-1) start=(0) stop=(2) step=(1) : f32[4,2]
%6 = matmul %3, %5 : f32[N,2]
%7 = slice %4 axis=(-1) start=(2) stop=(6) step=(1) : f32[4,4]
%8 = matmul %3, %7 : f32[N,4]
%9 = matmul %3, %4 : f32[N,6]
%10 = add %9, %0 : f32[N,6]
%11 = slice %10 axis=(-1) start=(0) stop=(2) step=(1) : f32[N,2]
%12 = add %6, %1 : f32[N,2]
%13 = slice %10 axis=(-1) start=(2) stop=(6) step=(1) : f32[N,4]
%14 = add %8, %2 : f32[N,4]
output "y" %11
output "z" %13
%11 = %12 exact
%13 = %14 exact
)");
}

// A block of a transformer of which one token is wanted: all behind the last value that other tokens are made of.
TEST(SliceProduct, ThroughNormsAndResiduals) {
    Graph g("g");
    const Tensor given = g.input("x", DType::f32, {2, g.symbol("N", 1, 5), 8});
    const auto weight = [&](const char* name, Shape shape) { return g.weight(name, DType::f32, std::move(shape)); };
    const Tensor x = tanh(given), up = relu(matmul(x, weight("up", {8, 16})));
    const Tensor sum = x + matmul(up, weight("down", {16, 8}));
    g.output("first", slice(layer_norm(sum, weight("gamma", {8}), weight("beta", {8}), 0.1), 1, 0, 1));
    const expand::Expansion expansion = checked_expansion(g, "slice_product");
    const ir::GraphData& graph = *expansion.graph;
    const ir::NodeId value = graph.outputs()[0].node;
    const auto all = expansion.classes.spellings(value);
    ASSERT_EQ(all.size(), 2u);
    std::vector<Shape> products;
    for (const ir::Node& node : graph.nodes())
        if (node.op == ir::Op::matmul && node.shape[1] == Dim(1)) products.push_back(node.shape);
    EXPECT_EQ(products, (std::vector<Shape>{{2, 1, 16}, {2, 1, 8}}));
    std::size_t slices = 0;
    for (const ir::Node& node : graph.nodes()) slices += node.op == ir::Op::slice;
    EXPECT_EQ(slices, 2u) << "the program's own, and one of the input";
}

TEST(SliceProduct, BatchesAndTransposedViews) {
    Graph g("g");
    const Tensor q = g.input("q", DType::f32, {4, 3, 5}), k = g.input("k", DType::f32, {4, 3, 5});
    const Tensor product = matmul(q, swap_axes(k, -1, -2));
    g.output("batch", slice(transpose(product, {1, 0, 2}), 1, 1, 3));
    const expand::Expansion expansion = checked_expansion(g, "slice_product");
    const auto all = expansion.classes.spellings(expansion.graph->outputs()[0].node);
    ASSERT_EQ(all.size(), 2u);
    const ir::Node& turned = expansion.graph->node(all[1]);
    EXPECT_EQ(turned.op, ir::Op::transpose);
    EXPECT_EQ(expansion.graph->node(turned.operands[0]).op, ir::Op::matmul);
}

TEST(SliceProduct, WhatIsReadWholeStays) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {6, 4});
    const auto product = [&](const char* name) { return matmul(x, g.weight(name, DType::f32, {4, 6})); };
    const Tensor seen = product("a"), read = product("b"), both = product("c"), many = product("d");
    g.output("seen", seen);
    g.output("part", slice(seen, 0, 0, 2));
    g.output("read", slice(read, 0, 0, 2) + sum(read, {0}, true));
    g.output("rows", slice(both, 0, 0, 1));
    g.output("columns", slice(both, 1, 0, 1));
    for (int i = 0; i < 6; ++i) g.output("row" + std::to_string(i), tanh(slice(many, 0, i, i + 1)));
    g.output("none", slice(tanh(x), 0, 0, 2));
    g.output("bound", slice(product("f"), 1, 0, 2));
    g.output("along", slice(sum(matmul(x, g.input("e", DType::f32, {4, 6})), {0}, true), 1, 0, 2));
    const expand::Expansion expansion = checked_expansion(g, "slice_product");
    EXPECT_EQ(to_string(*expansion.graph, expansion.classes).find(','), std::string::npos);
    std::size_t spelled = 0;
    for (ir::NodeId id = 0; id < expansion.graph->nodes().size(); ++id) spelled += expansion.classes.value_of(id) != id;
    EXPECT_EQ(spelled, 1u) << "columns of a sum of rows";
}

TEST(SliceProduct, GrowsWithTheGraph) {
    const auto size = [](int count) {
        Graph g("g");
        Tensor x = g.input("x", DType::f32, {4, 6});
        for (int i = 0; i < count; ++i) {
            x = matmul(x, g.weight("w" + std::to_string(i), DType::f32, {6, 6}));
            g.output("y" + std::to_string(i), tanh(slice(tanh(x), 0, 1, 2)));
            x = concat({slice(sin(x), 1, 0, 3), slice(cos(x), 1, 3, 6)}, 1);
        }
        g.output("y", slice(x, 0, 0, 1));
        return checked_expansion(g, "slice_product").graph->nodes().size();
    };
    EXPECT_LE(size(100), 10 * size(10));
}

}  // namespace
}  // namespace cairn::test
