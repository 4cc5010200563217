#include "cairn/graph.hpp"
#include "cairn/ops.hpp"
#include "graph/ir/graph_data.hpp"

#include <gtest/gtest.h>

namespace cairn::ir {
namespace {

TEST(GraphQueries, CountUsesAndLiveNodes) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {4});
    const Tensor square = x * x, dead = exp(x);
    const Dim past = g.symbol("P", 0, 3);
    State k = g.state("k", DType::f32, {past}, 0, 8);
    k.append(x);
    g.output("y", square);
    g.output("z", square);
    const auto uses = use_counts(*g.data());
    EXPECT_EQ(uses[x.id()], 4);
    EXPECT_EQ(uses[square.id()], 2);
    EXPECT_EQ(uses[k.latest().id()], 1);
    EXPECT_EQ(uses[dead.id()], 0);
    const auto live = live_nodes(*g.data());
    EXPECT_TRUE(live[x.id()] && live[square.id()] && live[k.read().id()] && live[k.latest().id()]);
    EXPECT_FALSE(live[dead.id()]);
}

TEST(GraphQueries, BoundNodesDependOnWeightsOnly) {
    Graph g;
    const Dim n = g.symbol("N", 1, 9);
    const Tensor w = g.weight("w", DType::f32, {4, 1}), x = g.input("x", DType::f32, {4, 4});
    const Tensor half = w * 0.5, wide = broadcast(half, {4, n}), mixed = x * half, table = iota(g, 4) + 1,
                 ramp = iota(g, n);
    const auto bound = bind_time_nodes(*g.data());
    EXPECT_TRUE(bound[w.id()] && bound[half.id()] && bound[table.id()]);
    EXPECT_FALSE(bound[x.id()] || bound[wide.id()] || bound[mixed.id()] || bound[ramp.id()]);
}

TEST(GraphQueries, EveryVersionIsMappedToItsState) {
    Graph g;
    const Tensor rows = g.input("rows", DType::f32, {2, 4});
    State k = g.state("k", DType::f32, {g.symbol("P", 0, 3), 4}, 0, 8), other = g.state("other", DType::f32, {2, 4});
    const Tensor first = k.append(rows), second = k.write(rows, 0);
    for (const Tensor& version : {k.read(), first, second})
        EXPECT_EQ(state_origin(*g.data(), version.id()), k.read().id());
    EXPECT_EQ(state_origin(*g.data(), other.assign(rows).id()), other.read().id());
    for (const Tensor& value : {rows, exp(first)}) EXPECT_EQ(state_origin(*g.data(), value.id()), std::nullopt);
}

}  // namespace
}  // namespace cairn::ir
