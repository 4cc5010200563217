#include "graph/ir/graph_data.hpp"

#include "cairn/composites.hpp"
#include "graph/ir/op_table.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::ir {
namespace {

TEST(GraphData, InternsEqualNodes) {
    Graph g;
    const Dim n = g.symbol("N", 1, 9);
    const Tensor x = g.input("x", DType::f32, {n, 4}), y = g.input("y", DType::f32, {n, 4});
    EXPECT_EQ((x + y).id(), (x + y).id());
    EXPECT_NE((x + y).id(), (y + x).id());
    EXPECT_EQ(reshape(x, {-1}).id(), reshape(x, {4 * n}).id());
    EXPECT_EQ(sum(x, {1}).id(), sum(x, {-1}).id());
    EXPECT_EQ(g.constant(DType::f32, 0.5).id(), g.constant(DType::f32, 0.5).id());
    EXPECT_NE(g.constant(DType::f32, 0.5).id(), g.constant(DType::f64, 0.5).id());
    EXPECT_NE(g.constant(DType::f32, 0.0).id(), g.constant(DType::f32, -0.0).id());
    EXPECT_EQ(g.constant(DType::f32, std::nan("")).id(), g.constant(DType::f32, -std::nan("")).id());
    EXPECT_EQ(g.constant(DType::f32, 0.1).id(), g.constant(DType::f32, static_cast<double>(0.1F)).id());
    EXPECT_NE(pad(x, 0, 0, 1, 0.0).id(), pad(x, 0, 0, 1, -0.0).id());
    EXPECT_EQ((x * 2).id(), (x * 2.0F).id());
    EXPECT_NE(softmax(x).id(), softmax(y).id());
    EXPECT_EQ(softmax(x).id(), softmax(x, 1).id());
    const std::size_t before = g.size();
    layer_norm(x, g.weight("g", DType::f32, {4}), g.weight("b", DType::f32, {4}));
    const std::size_t after = g.size();
    const Tensor d = x - sum(x, {-1}, true) / 4;
    const Tensor scaled = d / sqrt(sum(d * d, {-1}, true) / 4 + 1e-5);
    EXPECT_GT(after, before);
    EXPECT_EQ(g.size(), after) << "a layer norm written in atomic ops gives the composite's nodes";
    EXPECT_EQ(scaled.graph()->node(scaled.id()).composite, "layer_norm");
}

TEST(GraphData, NodesRecordTheirLineAndComposite) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {4});
    const auto line = static_cast<unsigned>(__LINE__) + 1;
    const Tensor y = silu(x);
    for (NodeId id = x.id() + 1; id < g.size(); ++id) {
        const Node& node = g.data()->node(id);
        EXPECT_EQ(node.where.line(), line);
        EXPECT_TRUE(std::string_view(node.where.file_name()).ends_with("graph_data_test.cpp"));
        EXPECT_EQ(node.composite, "silu") << "the outermost one, not sigmoid";
    }
    const Tensor z = y + 1;
    EXPECT_EQ(g.data()->node(z.id()).composite, "");
    EXPECT_EQ(g.data()->node(z.id()).where.line(), static_cast<unsigned>(__LINE__) - 2);
}

TEST(GraphData, ACompositeThatThrowsIsNotRecorded) {
    Graph g;
    const Tensor x = g.input("x", DType::i32, {4});
    EXPECT_THROW(softmax(x), Error);
    EXPECT_EQ(g.data()->part_name(Op::neg), "neg");
    EXPECT_EQ(g.data()->node((-x).id()).composite, "");
}

TEST(Specialize, ReplacesSymbols) {
    Graph g("g");
    const Dim n = g.symbol("N", 0, 9), t = g.symbol("T", 1, 12), past = g.symbol("P", 0, 99);
    const Tensor x = g.input("x", DType::f32, {n, t});
    State k = g.state("k", DType::f32, {past, t}, 0, 100);
    g.output("y", slice(k.append(x), 0, 0, n + past) * 2);
    const auto symbols = Symbols::create();
    const Dim m = symbols->add("N", 2, 4), p = symbols->add("P", 0, 99);
    const auto special = specialize(*g.data(), symbols, {m, 1, p});
    EXPECT_EQ(to_string(Graph(special)), R"(graph g (N in 2..4, P in 0..99)
%0 = input "x" : f32[N,1]
%1 = state_read "k" axis=(-2) capacity=(100) : f32[P,1]
%2 = state_append %1, %0 : f32[N + P,1]
%3 = slice %2 axis=(-2) start=(0) stop=(N + P) step=(1) : f32[N + P,1]
%4 = constant 2 : f32[]
%5 = mul %3, %4 : f32[N + P,1]
output "y" %5
state "k" %2
)");
    EXPECT_EQ(special->states()[0].shape, (Shape{p, 1}));
    EXPECT_EQ(special->states()[0].latest, 2U);
}

TEST(OpTable, FindsEveryOpByItsName) {
    for (const OpInfo& row : op_table()) {
        EXPECT_EQ(find_op(row.name), row.op);
        EXPECT_EQ(&info(row.op), &row);
    }
    EXPECT_EQ(find_op("nothing"), std::nullopt);
    EXPECT_EQ(find_op(""), std::nullopt);
}

}  // namespace
}  // namespace cairn::ir
