#include "equivalence_cases.hpp"

#include "cairn/ops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace cairn::test {
namespace {

TEST(WidenViews, AViewOfAStoredTensor) {
    EXPECT_EQ(expanded(R"(
%0 = input "x" : f16[N,3,4]
%1 = cast %0 dtype=(1) : f32[N,3,4]
%2 = transpose %1 permutation=(-2,-1,-3) : f32[3,4,N]
%3 = slice %2 axis=(-2) start=(1) stop=(3) step=(1) : f32[3,2,N]
%4 = tanh %3 : f32[3,2,N]
output "y" %4
)",
                       "widen_views"),
              R"(
%0 = input "x" : f16[N,3,4]
%1 = transpose %0 permutation=(-2,-1,-3) : f16[3,4,N]
%2 = slice %1 axis=(-2) start=(1) stop=(3) step=(1) : f16[3,2,N]
%3 = cast %0 dtype=(1) : f32[N,3,4]
%4 = transpose %3 permutation=(-2,-1,-3) : f32[3,4,N]
%5 = slice %4 axis=(-2) start=(1) stop=(3) step=(1) : f32[3,2,N]
%6 = cast %2 dtype=(1) : f32[3,2,N]
%7 = tanh %5 : f32[3,2,N]
output "y" %7
%5 = %6 exact
)");
}

std::size_t count_of(Tensor (*build)(Graph&, const Tensor& x), DType dtype) {
    Graph g("g");
    g.output("y", tanh(cast(build(g, g.input("x", dtype, {g.symbol("N", 0, 4), 4})), DType::f32)));
    return count_of_expressions(g, "widen_views");
}

TEST(WidenViews, OnlyOfWideningCastsOfSlices) {
    const auto cut = [](Graph&, const Tensor& x) { return transpose(slice(cast(x, DType::f32), 1, 0, 2), {1, 0}); };
    for (const DType dtype : {DType::f16, DType::bf16}) EXPECT_EQ(count_of(cut, dtype), 2u);
    for (const DType dtype : {DType::f32, DType::f64, DType::i8, DType::boolean}) EXPECT_EQ(count_of(cut, dtype), 0u);
    EXPECT_EQ(count_of([](Graph&, const Tensor& x) { return slice(cast(x, DType::f64), 1, 0, 2); }, DType::f32), 1u);
    EXPECT_EQ(count_of(
                  [](Graph&, const Tensor& x) {
                      return transpose(cast(x, DType::f32), {1, 0});
                  },
                  DType::f16),
              0u)
        << "as much is widened";
    EXPECT_EQ(count_of([](Graph&, const Tensor& x) { return slice(cast(x, DType::f32) + 1.0F, 1, 0, 2); }, DType::f16),
              0u);
    EXPECT_EQ(count_of([](Graph&, const Tensor& x) { return cast(slice(x, 1, 0, 2), DType::f32); }, DType::f16), 0u);
}

TEST(WidenViews, OfStatesAllViews) {
    Graph g("g");
    const Dim past = g.symbol("P", 0, 7);
    State rows = g.state("rows", DType::bf16, {past, 4}, 0, 8);
    const Tensor all = rows.append(g.input("x", DType::bf16, {1, 4}));
    g.output("y", tanh(transpose(cast(all, DType::f32), {1, 0})));
    g.output("before", tanh(reshape(cast(rows.read(), DType::f32), {-1})));
    EXPECT_EQ(count_of_expressions(g, "widen_views"), 2u);
}

TEST(WidenViews, OfConsecutiveViewsTheFirst) {
    for (const int views : {1, 2, 8, 9, 40}) {
        Graph g("g");
        Tensor x = cast(g.input("x", DType::f16, {64}), DType::f32);
        for (int i = 0; i < views; ++i) x = slice(x, 0, 1, x.dim(0));
        g.output("y", tanh(x));
        const std::size_t count = count_of_expressions(g, "widen_views");
        EXPECT_EQ(count, static_cast<std::size_t>(std::min(views, 8))) << views;
    }
}

TEST(WidenViews, RandomViewsGiveEqualResults) {
    std::size_t spelled = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
        Graph g("g");
        const Dim n = g.symbol("N", 0, 5);
        Tensor x =
            cast(g.input("x", below(2) ? DType::f16 : DType::bf16, {n, 3, 4}), below(4) ? DType::f32 : DType::f64);
        for (int i = 1 + below(5); i > 0; --i) {
            const int last = static_cast<int>(x.rank()) - 1;
            switch (below(5)) {
                case 0: x = swap_axes(x, below(static_cast<unsigned>(last + 1)), last); break;
                case 1: x = unsqueeze(x, below(static_cast<unsigned>(last + 1))); break;
                case 2: x = reshape(x, {-1}), x = unsqueeze(x, 0); break;
                case 3:
                    x = broadcast(unsqueeze(x, 0), [&] {
                        Shape shape = x.shape();
                        shape.insert(shape.begin(), Dim(2));
                        return shape;
                    }());
                    break;
                default:
                    if (x.dim(last).is_constant()) x = slice(x, last, 0, (x.dim(last) + 1) / 2);
            }
            if (below(4) == 0) g.output("out" + std::to_string(i), x * 2.0);
        }
        g.output("y", tanh(x));
        const alternatives::Expansion expansion = checked_expansion(g, "widen_views");
        for (ir::NodeId id = 0; id < expansion.graph->nodes().size(); ++id)
            spelled += expansion.classes.value_of(id) != id ? 1 : 0;
        if (HasFailure()) return;
    }
    EXPECT_GT(spelled, 30u);
}

}  // namespace
}  // namespace cairn::test
