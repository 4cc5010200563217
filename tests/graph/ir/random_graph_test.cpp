#include "tests/graph/ir/random_graph.hpp"

#include "graph/ir/op_table.hpp"
#include "graph/ir/verify.hpp"
#include "tests/graph/ir/reference_results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace cairn::test {
namespace {

constexpr std::uint64_t graphs = 300;

TEST(RandomGraph, IsTheSameForTheSameSeed) {
    EXPECT_EQ(to_string(random_graph(7)), to_string(random_graph(7)));
    EXPECT_NE(to_string(random_graph(7)), to_string(random_graph(8)));
}

TEST(RandomGraph, ContainsEveryOpAndIsValid) {
    std::set<ir::Op> seen;
    int with_states = 0, with_symbols = 0;
    for (std::uint64_t seed = 0; seed < graphs; ++seed) {
        const Graph graph = random_graph(seed);
        const ir::GraphData& data = *graph.data();
        ASSERT_EQ(ir::verify(data), "") << to_string(graph);
        for (const ir::Node& node : data.nodes()) seen.insert(node.op);
        with_states += data.states().empty() ? 0 : 1;
        with_symbols += data.symbols()->list().empty() ? 0 : 1;
        for (const auto& sizes : random_sizes(data, 3, seed)) {
            const interpreter::Results results = interpreter::interpret(data, random_inputs(data, sizes, seed));
            EXPECT_GE(results.outputs.size(), 1U);
            for (const auto& [name, value] : results.outputs)
                for (const double element : value.data)
                    ASSERT_LE(std::fabs(element), 64.001) << "output " << name << "\n" << to_string(graph);
        }
    }
    for (const ir::OpInfo& row : ir::op_table()) EXPECT_TRUE(seen.contains(row.op)) << row.name;
    EXPECT_GT(with_states, 50);
    EXPECT_GT(with_symbols, 250);
}

TEST(RandomGraph, StaysWithinItsErrorBound) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        double worst = 0;
        std::set<ir::Op> inexact;
        for (std::uint64_t seed = 0; seed < graphs; ++seed) {
            const Graph graph = random_graph(seed, {.dtype = dtype});
            const auto sizes = random_sizes(*graph.data(), 2, seed).back();
            const interpreter::Inputs inputs = random_inputs(*graph.data(), sizes, seed);
            const interpreter::Results expected = interpreter::interpret(*graph.data(), inputs),
                                       actual = interpreter::interpret(rounded(*graph.data()), inputs);
            for (const ir::Node& node : graph.data()->nodes())
                if (node.dtype == dtype) inexact.insert(node.op);
            for (const auto& [name, value] : expected.outputs) {
                ASSERT_EQ(difference(actual.outputs.at(name), value, error_bound_of(dtype)), "") << name << "\n"
                                                                                                 << to_string(graph);
                for (std::size_t i = 0; i < value.data.size(); ++i)
                    worst = std::max(worst, std::fabs(actual.outputs.at(name).data[i] - value.data[i]));
            }
        }
        EXPECT_GT(worst, dtype == DType::f32 ? 1e-7 : 1e-3) << "rounding must show, else this test sees nothing";
        for (const ir::Op op :
             {ir::Op::matmul, ir::Op::exp, ir::Op::div, ir::Op::sum, ir::Op::rsqrt, ir::Op::max_reduce})
            EXPECT_TRUE(inexact.contains(op)) << ir::info(op).name << " in " << to_string(dtype);
    }
}

// (x w) v may be computed as x (w v), which meets the infinity with one factor in place of two; x w may not differ.
TEST(RandomGraph, OnlyChainsOfProductsTakeNonFiniteValuesInAnyOrder) {
    Graph graph;
    const Tensor x = graph.input("x", DType::f32, {1, 1}), w = graph.input("w", DType::f32, {1, 2}),
                 v = graph.input("v", DType::f32, {2, 1});
    graph.output("product", matmul(x, w));
    graph.output("chain", matmul(transpose(reshape(matmul(x, w), {2, 1}), {1, 0}), v));
    interpreter::Inputs inputs;
    inputs.tensors["x"] = interpreter::make_value(DType::f32, {1, 1}, std::vector<double>{HUGE_VAL});
    inputs.tensors["w"] = interpreter::make_value(DType::f32, {1, 2}, std::vector<double>{1, 1});
    inputs.tensors["v"] = interpreter::make_value(DType::f32, {2, 1}, std::vector<double>{2, -1});
    const ReferenceResults expected = reference_results(*graph.data(), inputs);
    ASSERT_TRUE(std::isnan(expected.exact.outputs.at("chain").data[0]));

    interpreter::Results actual = expected.exact;
    EXPECT_EQ(difference(actual, expected), "");
    actual.outputs.at("chain").data[0] = HUGE_VAL;
    EXPECT_EQ(difference(actual, expected), "");
    actual.outputs.at("product").data[1] = std::nan("");
    EXPECT_EQ(difference(actual, expected), "product[1]: nan, expected inf");
}

// The ops of convolutions and pools, at sizes that are polynomials.
TEST(RandomGraph, SpatialGraphsContainConvolutionsPoolsAndSorts) {
    std::map<std::string, int> count;
    for (std::uint64_t seed = 0; seed < graphs; ++seed) {
        const Graph graph = random_graph(seed, {.spatial = true});
        const ir::GraphData& data = *graph.data();
        ASSERT_EQ(ir::verify(data), "") << to_string(graph);
        const auto live = ir::live_nodes(data);
        std::map<std::string, int> counts;
        for (ir::NodeId id = 0; id < data.nodes().size(); ++id) {
            const ir::Node& node = data.node(id);
            if (!live[id]) continue;
            ++counts[node.composite.empty() ? std::string(ir::info(node.op).name) : node.composite];
            for (const Dim& size : node.shape)
                if (!size.is_constant() && size.symbol().empty()) ++counts["size that is no symbol"];
        }
        for (const auto& [name, number] : counts) ++count[name];
    }
    for (const char* name : {"conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d", "max_pool", "avg_pool", "topk",
                             "argsort", "cumsum", "batch_norm", "group_norm", "resize_linear", "upsample_nearest"})
        EXPECT_GT(count[name], 3) << name;
    EXPECT_GT(count["conv2d"], 100);
    EXPECT_GT(count["size that is no symbol"], 200);
}

TEST(RandomGraph, DifferenceReportsTheFirstElement) {
    const double a[] = {1, 2, 3}, b[] = {1, 2.5, 4};
    EXPECT_EQ(difference(interpreter::make_value(DType::f32, {3}, a), interpreter::make_value(DType::f32, {3}, b), 0.1),
              "[1]: 2, expected 2.5");
    EXPECT_EQ(difference(interpreter::make_value(DType::f32, {3}, a), interpreter::make_value(DType::f32, {3}, b), 1),
              "");
    EXPECT_EQ(difference(interpreter::make_value(DType::i32, {3}, a), interpreter::make_value(DType::i32, {3}, b), 1),
              "[2]: 3, expected 4");
    EXPECT_EQ(
        difference(interpreter::make_value(DType::f32, {3}, a), interpreter::make_value(DType::f32, {3, 1}, b), 1),
        "f32[3], expected f32[3,1]");
}

}  // namespace
}  // namespace cairn::test
