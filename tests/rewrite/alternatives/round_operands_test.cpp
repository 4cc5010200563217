#include "cairn/ops.hpp"
#include "rewrite/alternatives/equivalence_rule.hpp"
#include "rewrite/alternatives/expand.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace cairn::test {
namespace {

/// Expands with round_operands only, all equivalence rules disabled.
alternatives::Expansion rounded(const Graph& graph) {
    alternatives::Options options{.round_operands = true};
    for (const alternatives::EquivalenceRule& row : alternatives::all_equivalence_rules())
        options.disabled.emplace_back(row.name);
    alternatives::Expansion expansion = alternatives::expand(*graph.data(), options);
    EXPECT_EQ(alternatives::verify(*expansion.graph, expansion.classes), "");
    return expansion;
}

TEST(RoundOperands, OperandsReadByEachRowAndTheirViews) {
    const Graph graph = parse_graph(R"(graph g (N in 0..4096)
%0 = input "x" : f32[5,64]
%1 = input "y" : f32[N,64]
%2 = tanh %1 : f32[N,64]
%3 = transpose %2 permutation=(-1,-2) : f32[64,N]
%4 = matmul %0, %3 : f32[5,N]
output "z" %4
)");
    const alternatives::Expansion expansion = rounded(graph);
    EXPECT_EQ(to_string(Graph(expansion.graph)), R"(graph g (N in 0..4096)
%0 = input "x" : f32[5,64]
%1 = input "y" : f32[N,64]
%2 = tanh %1 : f32[N,64]
%3 = transpose %2 permutation=(-1,-2) : f32[64,N]
%4 = matmul %0, %3 : f32[5,N]
%5 = cast %2 dtype=(3) : bf16[N,64]
%6 = transpose %5 permutation=(-1,-2) : bf16[64,N]
output "z" %4
)");
    EXPECT_EQ(to_string(*expansion.graph, expansion.classes), "%2 rounded: %5\n%3 rounded: %6\n");
}

TEST(RoundOperands, OnlyOnRequest) {
    Graph g("g");
    const Dim n = g.symbol("N", 0, 4096);
    g.output("z", matmul(g.input("x", DType::f32, {5, n}), tanh(g.input("y", DType::f32, {n, 64}))));
    EXPECT_FALSE(rounded(g).classes.all_rounded().empty());
    EXPECT_TRUE(alternatives::expand(*g.data()).classes.all_rounded().empty());
}

std::size_t count(const std::function<Tensor(Graph&, const Dim&)>& right, DType dtype = DType::f32,
                  std::int64_t most = 1024) {
    Graph g("g");
    const Dim n = g.symbol("N", 0, most);
    const Tensor operand = right(g, n);
    g.output("z", matmul(g.input("x", dtype, {5, operand.dim(0)}), operand));
    return rounded(g).classes.all_rounded().size();
}

TEST(RoundOperands, LargeF32OperandsOfTheRun) {
    const auto computed = [](DType dtype) {
        return [dtype](Graph& g, const Dim& n) { return tanh(g.input("y", dtype, {n, 64})); };
    };
    EXPECT_EQ(count(computed(DType::f32)), 1U);
    EXPECT_EQ(count(computed(DType::f32), DType::f32, 1023), 0U) << "a cache holds it";
    for (const DType dtype : {DType::f64, DType::f16, DType::bf16}) EXPECT_EQ(count(computed(dtype), dtype), 0U);
    EXPECT_EQ(count([](Graph& g, const Dim&) { return tanh(g.weight("w", DType::f32, {1024, 64})); }), 0U);
}

TEST(RoundOperands, NotStatesNarrowOrRoundedValues) {
    EXPECT_EQ(count([](Graph& g, const Dim&) {
                  return g.state("s", DType::f32, {g.symbol("P", 0, 4096), 64}, 0, 8192)
                      .append(g.input("y", DType::f32, {1, 64}));
              }),
              0U)
        << "state_storage decides how states are stored";
    EXPECT_EQ(count([](Graph& g, const Dim& n) { return cast(g.input("y", DType::f16, {n, 64}), DType::f32); }), 0U);
    EXPECT_EQ(count([](Graph& g, const Dim& n) {
                  const Tensor y = tanh(g.input("y", DType::f32, {64, n}));
                  g.output("kept", cast(y, DType::bf16));
                  return transpose(y, {1, 0});
              }),
              0U);
}

TEST(RoundOperands, ASliceIndependentOfItsBase) {
    Graph g("g");
    const Dim n = g.symbol("N", 0, 4096);
    const Tensor all = tanh(g.input("y", DType::f32, {n, 128})), part = slice(all, 1, 64, 128);
    g.output("z", matmul(g.input("x", DType::f32, {5, 64}), transpose(part, {1, 0})));
    const alternatives::EClasses classes = rounded(g).classes;
    EXPECT_EQ(classes.all_rounded().size(), 2U);
    EXPECT_FALSE(classes.rounded(part.id()).empty());
    EXPECT_TRUE(classes.rounded(all.id()).empty());
}

TEST(RoundOperands, OneCastForAllReaders) {
    Graph g("g");
    const Dim n = g.symbol("N", 0, 4096);
    const Tensor y = tanh(g.input("y", DType::f32, {n, 64}));
    g.output("a", matmul(g.input("x", DType::f32, {5, n}), y));
    g.output("b", matmul(g.input("u", DType::f32, {7, n}), y));
    EXPECT_EQ(rounded(g).graph->nodes().size(), g.data()->nodes().size() + 1);
}

}  // namespace
}  // namespace cairn::test
