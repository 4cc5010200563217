#include "cairn/graph.hpp"

#include "cairn/ops.hpp"
#include "graph/ir/graph_data.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cairn {
namespace {

TEST(Graph, TensorsAreHandles) {
    Tensor y;
    EXPECT_TRUE(y.empty());
    {
        Graph g("gone");
        const Tensor x = g.input("x", DType::f16, {2, 3});
        y = x * 2;
    }
    EXPECT_FALSE(y.empty());
    EXPECT_EQ(to_string(y.dtype(), y.shape()), "f16[2,3]") << "the handle keeps its graph";
    EXPECT_EQ(y.rank(), 2);
    EXPECT_EQ(y.dim(-1), Dim(3));
    const Tensor moved = std::move(y);
    EXPECT_TRUE(y.empty());  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(moved.dim(0), Dim(2));
}

TEST(Graph, SymbolsAreItsOwn) {
    Graph g;
    const Dim n = g.symbol("N", 1, 8);
    EXPECT_EQ(g.symbol("N", 1, 8), n);
    EXPECT_EQ(g.symbols().find("N"), n);
    EXPECT_EQ(to_string(g.input("x", DType::f32, {n + 1, 2}).shape()), "[1 + N,2]");
}

TEST(Graph, ConstantsAreRounded) {
    Graph g;
    const auto values = [&](const Tensor& t) { return *g.data()->node(t.id()).values; };
    const double given[] = {0.1, -7.9, 300};
    EXPECT_EQ(values(g.constant(DType::f32, {3}, given)),
              (std::vector<double>{static_cast<double>(0.1F), static_cast<double>(-7.9F), 300}));
    EXPECT_EQ(values(g.constant(DType::u8, {3, 1}, given)), (std::vector<double>{0, 0, 255}));
    EXPECT_EQ(values(g.constant(DType::boolean, {3}, given)), (std::vector<double>{1, 1, 1}));
    EXPECT_EQ(values(g.constant(DType::f32, {0, 5}, std::span<const double>())), std::vector<double>{});
    const Tensor lifted = g.input("x", DType::f16, {2}) + 0.1;
    EXPECT_EQ(values(Tensor(g.data(), g.data()->node(lifted.id()).operands[1])), std::vector<double>{0.0999755859375});
}

TEST(Graph, ADimIsAScalar) {
    Graph g;
    const Dim n = g.symbol("N", 1, 100);
    g.output("number", g.constant(DType::f32, Dim(7)));
    g.output("size", g.constant(DType::f32, 2 * n + 1));
    g.output("whole", g.constant(DType::i64, n));
    g.output("large", g.constant(DType::i64, Dim((std::int64_t{1} << 60) + 1)));
    const interpreter::Results results = interpreter::interpret(*g.data(), {{{"N", 20}}, {}});
    EXPECT_EQ(results.outputs.at("number").data, std::vector<double>{7});
    EXPECT_EQ(results.outputs.at("size").data, std::vector<double>{41});
    EXPECT_EQ(results.outputs.at("size").shape, std::vector<std::int64_t>{});
    EXPECT_EQ(results.outputs.at("whole").integers, std::vector<std::int64_t>{20});
    EXPECT_EQ(results.outputs.at("large").integers, std::vector<std::int64_t>{(std::int64_t{1} << 60) + 1});
}

TEST(State, VersionsGrow) {
    Graph g("g");
    const Dim past = g.symbol("past", 0, 10), t = g.symbol("T", 1, 4);
    State k = g.state("k", DType::f32, {2, past, 3}, 1, 12);
    const Tensor before = k.read();
    EXPECT_EQ(k.latest().id(), before.id());
    const Tensor rows = g.input("rows", DType::f32, {2, t, 3});
    const Tensor once = k.append(rows);
    EXPECT_EQ(to_string(once.shape()), "[2,T + past,3]");
    const Tensor twice = k.append(rows);
    EXPECT_NE(once.id(), twice.id());
    EXPECT_EQ(to_string(twice.shape()), "[2,2*T + past,3]");
    EXPECT_EQ(k.read().id(), before.id()) << "read() is the state before the run";
    const Tensor written = k.write(g.input("patch", DType::f32, {2, 1, 3}), past);
    EXPECT_EQ(written.shape(), twice.shape());
    EXPECT_EQ(k.latest().id(), written.id());
    ASSERT_EQ(g.data()->states().size(), 1U);
    EXPECT_EQ(g.data()->states()[0].latest, written.id());
    EXPECT_EQ(g.data()->states()[0].axis, -2);
}

TEST(State, OtherAxesMayBeSymbols) {
    Graph g;
    const Dim batch = g.symbol("B", 1, 4), past = g.symbol("P", 0, 8);
    State k = g.state("k", DType::f32, {batch, past}, -1, 8);
    EXPECT_EQ(to_string(k.append(g.input("rows", DType::f32, {batch, 1})).shape()), "[B,1 + P]");
}

}  // namespace
}  // namespace cairn
