#include "equivalence_cases.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

TEST(SplitProduct, ConcatenatedParts) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f32[N,3,4]
%1 = input "y" : f32[N,3,2]
%2 = tanh %1 : f32[N,3,2]
%3 = concat %0, %2 axis=(-1) : f32[N,3,6]
%4 = weight "w" : f32[5,6]
%5 = transpose %4 permutation=(-1,-2) : f32[6,5]
%6 = matmul %3, %5 : f32[N,3,5]
output "y" %6
)",
                       "split_product"),
              R"(
%0 = weight "w" : f32[5,6]
%1 = transpose %0 permutation=(-1,-2) : f32[6,5]
%2 = slice %0 axis=(-1) start=(0) stop=(4) step=(1) : f32[5,4]
%3 = transpose %2 permutation=(-1,-2) : f32[4,5]
%4 = slice %0 axis=(-1) start=(4) stop=(6) step=(1) : f32[5,2]
%5 = transpose %4 permutation=(-1,-2) : f32[2,5]
%6 = input "x" : f32[N,3,4]
%7 = matmul %6, %3 : f32[N,3,5]
%8 = input "y" : f32[N,3,2]
%9 = tanh %8 : f32[N,3,2]
%10 = matmul %9, %5 : f32[N,3,5]
%11 = concat %6, %9 axis=(-1) : f32[N,3,6]
%12 = matmul %11, %1 : f32[N,3,5]
%13 = add %7, %10 : f32[N,3,5]
output "y" %12
%12 = %13 reassociated
)");
}

struct Parts {
    Graph graph{"g"};
    Tensor x = graph.input("x", DType::f32, {graph.symbol("N", 0, 4), 4}), y = tanh(x), whole = concat({x, y}, -1),
           w = graph.weight("w", DType::f32, {8, 5}), v = graph.weight("v", DType::f32, {8, 3});
};

std::size_t count_of(void (*build)(Parts&)) {
    Parts p;
    build(p);
    return count_of_expressions(p.graph, "split_product");
}

TEST(SplitProduct, OnlyIfAllReadersAreProducts) {
    EXPECT_EQ(count_of([](Parts& p) { p.graph.output("a", matmul(p.whole, p.w)); }), 1u);
    EXPECT_EQ(count_of([](Parts& p) {
                  p.graph.output("a", matmul(p.whole, p.graph.input("g", DType::f32, {8, 1})));
              }),
              1u);
    EXPECT_EQ(count_of([](Parts& p) {
                  p.graph.output("a", matmul(p.whole, p.w));
                  p.graph.output("b", matmul(p.whole, p.v));
              }),
              2u);
    EXPECT_EQ(count_of([](Parts& p) {
                  p.graph.output("a", matmul(p.whole, p.w));
                  p.graph.output("b", p.whole);
              }),
              0u);
    EXPECT_EQ(count_of([](Parts& p) { p.graph.output("a", matmul(p.whole, p.w) + sum(p.whole, {-1}, true)); }), 0u);
    EXPECT_EQ(count_of([](Parts& p) {
                  p.graph.output("a", matmul(concat({p.x, p.y}, 0), slice(p.w, 0, 0, 4)));
              }),
              0u)
        << "rows below each other";
    EXPECT_EQ(count_of([](Parts& p) { p.graph.output("a", matmul(swap_axes(p.w, 0, 1), swap_axes(p.whole, 0, 1))); }),
              0u);
    EXPECT_EQ(count_of([](Parts& p) { p.graph.output("a", matmul(cast(p.whole, DType::i32), cast(p.w, DType::i32))); }),
              0u);
}

TEST(SplitProduct, UpToFourParts) {
    for (int count = 2; count < 7; ++count) {
        Graph g("g");
        std::vector<Tensor> parts;
        for (int i = 0; i < count; ++i) parts.push_back(g.input("x" + std::to_string(i), DType::f32, {3, i + 1}));
        const Tensor whole = concat(parts, 1);
        g.output("y", matmul(whole, g.weight("w", DType::f32, {whole.dim(1), 2})));
        EXPECT_EQ(count_of_expressions(g, "split_product"), count <= 4 ? 1u : 0u);
    }
}

}  // namespace
}  // namespace cairn::test
