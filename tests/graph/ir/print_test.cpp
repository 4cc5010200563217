#include "graph/ir/print.hpp"

#include "cairn/composites.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace cairn::ir {
namespace {

TEST(Print, PrintsOneNodePerLine) {
    Graph g("two_layers");
    const Dim n = g.symbol("N", 1, 1024), past = g.symbol("P", 0, 63);
    const Tensor x = g.input("x", DType::f32, {n, 3}), w = g.weight("w", DType::f32, {3, 2});
    const Tensor y = matmul(x, w) * 0.1;
    g.output("y", sum(y, {-1}));
    State k = g.state("k", DType::f32, {past, 2}, 0, 64);
    k.append(y);
    g.constant(DType::bf16, {3}, std::vector<double>{1, 0.1, -std::numeric_limits<double>::infinity()});
    EXPECT_EQ(to_string(g), R"(graph two_layers (N in 1..1024, P in 0..63)
%0 = input "x" : f32[N,3]
%1 = weight "w" : f32[3,2]
%2 = matmul %0, %1 : f32[N,2]
%3 = constant 0.1 : f32[]
%4 = mul %2, %3 : f32[N,2]
%5 = sum %4 axes=(-1) : f32[N,1]
%6 = reshape %5 shape=(N) : f32[N]
%7 = state_read "k" axis=(-2) capacity=(64) : f32[P,2]
%8 = state_append %7, %4 : f32[N + P,2]
%9 = constant {1, 0.100097656, -inf} : bf16[3]
output "y" %6
state "k" %8
)");
}

TEST(Print, EscapesNames) {
    Graph g("not a \"word\"");
    g.output("größe", g.input("a\\b", DType::boolean, {}));
    EXPECT_EQ(to_string(g), "graph \"not a \\\"word\\\"\"\n%0 = input \"a\\\\b\" : bool[]\noutput \"größe\" %0\n");
}

TEST(Print, NumbersRoundTrip) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        Graph g;
        for (const double value : {0.1, -0.0, 1.0 / 3, 3.4028234663852886e38, 1e-45, 5e-324, std::nan(""), 65504.0})
            g.constant(dtype, value);
        const Graph back = parse_graph(to_string(g));
        EXPECT_EQ(to_string(back), to_string(g));
        ASSERT_EQ(back.size(), g.size());
        for (std::uint32_t i = 0; i < g.size(); ++i) {
            const double a = g.data()->node(i).values->front(), b = back.data()->node(i).values->front();
            EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0) << a;
        }
    }
}

}  // namespace
}  // namespace cairn::ir
