#include "cairn/cairn.hpp"
#include "tests/driver/compiled_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

/// Composites of f16 and bf16 compute in f32 and round once. They become the same single kernels as those of f32, as
/// composites and with explicit casts.
namespace cairn::test::rounded_composites {
namespace {

using testing::ElementsAre;
using Names = std::vector<std::string>;
using Tensors = std::vector<Tensor>;

/// The ops that the instructions of the cheapest program compute, step by step for fused bodies.
Names definitions(const Graph& graph) {
    static const Context context;
    const runtime::ProgramSet set = runtime::parse_program_set(compile(graph, context, {.verify = true}).program());
    Names names;
    for (const auto& each : set.buckets[0].program.run) {
        names.push_back(each.problem->definition);
        for (const Step& step : each.problem->body) names.back() += " " + step.op;
    }
    return names;
}

/// A composite and the shapes of its operands.
struct Case {
    const char* definition;
    std::vector<Shape> operands;
    std::function<Tensor(const Tensors&)> build;
};

const Case cases[] = {
    {"mean", {{6, 40}}, [](const Tensors& x) { return mean(x[0], -1); }},
    {"mean", {{6, 40}}, [](const Tensors& x) { return mean(x[0], 0, true); }},
    {"mean",
     {{4, 6, 40}},
     [](const Tensors& x) {
         return mean(x[0], {1, 2});
     }},
    {"mean",
     {{4, 6, 7, 8}},
     [](const Tensors& x) {
         return mean(x[0], {1, 2});
     }},
    {"mean", {{6, 40}}, [](const Tensors& x) { return mean(x[0]); }},
    {"mean",
     {{4, 6, 40}},
     [](const Tensors& x) {
         return mean(x[0], {0, 2});
     }},
    {"mean",
     {{4, 6, 7, 8}},
     [](const Tensors& x) {
         return mean(x[0], {0, 2, 3}, true);
     }},
    {"softmax", {{6, 40}}, [](const Tensors& x) { return softmax(x[0]); }},
    {"softmax", {{6, 40}}, [](const Tensors& x) { return softmax(x[0], 0); }},
    {"log_softmax", {{6, 40}}, [](const Tensors& x) { return log_softmax(x[0]); }},
    {"layer_norm", {{6, 40}, {40}, {40}}, [](const Tensors& x) { return layer_norm(x[0], x[1], x[2]); }},
    {"layer_norm", {{6, 40}, {6}, {6}}, [](const Tensors& x) { return layer_norm(x[0], x[1], x[2], 0.5, 0); }},
    {"layer_norm", {{6, 40}, {40}}, [](const Tensors& x) { return layer_norm(x[0], x[1]); }},
    {"layer_norm", {{6, 40}}, [](const Tensors& x) { return layer_norm(x[0]); }},
    {"rms_norm", {{6, 40}, {40}}, [](const Tensors& x) { return rms_norm(x[0], x[1]); }},
    {"rms_norm", {{6, 40}}, [](const Tensors& x) { return rms_norm(x[0]); }},
    {"image_mean",
     {{2, 3, 8, 9}},
     [](const Tensors& x) { return avg_pool(x[0], 3, {.stride = 1, .padding = 1, .count_padding = true}); }},
    {"sigmoid", {{6, 40}}, [](const Tensors& x) { return sigmoid(x[0]); }},
    {"silu", {{6, 40}}, [](const Tensors& x) { return silu(x[0]); }},
    {"gelu", {{6, 40}}, [](const Tensors& x) { return gelu(x[0]); }},
    {"gelu_tanh", {{6, 40}}, [](const Tensors& x) { return gelu_tanh(x[0]); }},
};

Tensors operands_of(const Case& test, Graph& graph, DType dtype) {
    Tensors operands;
    for (const Shape& shape : test.operands)
        operands.push_back(operands.empty() ? graph.input("x", dtype, shape)
                                            : graph.weight("w" + std::to_string(operands.size()), dtype, shape));
    return operands;
}

TEST(RoundedComposites, AreTheKernelsOfTheirDtype) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
        for (const Case& test : cases) {
            Graph graph;
            graph.output("y", test.build(operands_of(test, graph, dtype)));
            EXPECT_THAT(definitions(graph), ElementsAre(test.definition)) << to_string(dtype) << '\n'
                                                                          << to_string(graph);
        }
}

TEST(RoundedComposites, AreMatchedWithExplicitCasts) {
    for (const DType dtype : {DType::f16, DType::bf16})
        for (const Case& test : cases) {
            if (test.definition == std::string("image_mean")) continue;  // casts windows, not the image
            Graph graph;
            Tensors wide;
            for (const Tensor& operand : operands_of(test, graph, dtype)) wide.push_back(cast(operand, DType::f32));
            graph.output("y", cast(test.build(wide), dtype));
            EXPECT_THAT(definitions(graph), ElementsAre(test.definition)) << to_string(dtype) << '\n'
                                                                          << to_string(graph);
        }
}

TEST(RoundedComposites, ANormOfASumIsOneKernel) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        Graph graph;
        const Tensor sum = graph.input("x", dtype, {6, 40}) + graph.input("r", dtype, {6, 40});
        graph.output("sum", sum);
        graph.output("y", layer_norm(sum, graph.weight("gamma", dtype, {40}), graph.weight("beta", dtype, {40})));
        EXPECT_THAT(definitions(graph), ElementsAre("add_layer_norm")) << to_string(dtype);
    }
}

// The kernel is that of f32, which reads keys and values in their storage dtype.
TEST(RoundedComposites, AttentionIsOneKernelBetweenCasts) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
        Graph graph;
        const Tensor q = graph.input("q", dtype, {2, 8, 128, 64}), k = graph.input("k", dtype, {2, 4, 128, 64});
        graph.output("y", attention(q, k, graph.input("v", dtype, {2, 4, 128, 64}), {.causal = true}));
        const Names found = definitions(graph);
        EXPECT_THAT(found, testing::Contains("attention")) << to_string(dtype);
        EXPECT_THAT(found, testing::SizeIs(3)) << to_string(dtype);
    }
}

}  // namespace
}  // namespace cairn::test::rounded_composites
