#include "cairn/composites.hpp"
#include "tests/ir/judge.hpp"
#include "tests/pipeline/compiled_run.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

/// A composite of rows [N,8] to rows [N,8].
struct RowComposite {
    const char* name;
    Tensor (*call)(const Graph& graph, const Tensor& x);
};

Tensor ramp(const Graph& graph, std::int64_t rows) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < rows * 8; ++i) values.push_back(static_cast<double>(i * 5 % 13 - 6) / 8);
    if (rows == 1) return Graph(graph).constant(DType::f32, {8}, values);
    return Graph(graph).constant(DType::f32, {rows, 8}, values);
}

Tensor in_heads(const Tensor& x) { return reshape(x, {1, 2, x.dim(0), 4}); }

Tensor causal(const Tensor& x) {
    AttentionOptions options;
    options.causal = true;
    return reshape(attention(in_heads(x), in_heads(x), in_heads(x), options), {x.dim(0), 8});
}

const RowComposite composites[] = {
    {"relu", [](const Graph&, const Tensor& x) { return relu(x); }},
    {"sigmoid", [](const Graph&, const Tensor& x) { return sigmoid(x); }},
    {"silu", [](const Graph&, const Tensor& x) { return silu(x); }},
    {"gelu", [](const Graph&, const Tensor& x) { return gelu(x); }},
    {"gelu_tanh", [](const Graph&, const Tensor& x) { return gelu_tanh(x); }},
    {"softmax", [](const Graph&, const Tensor& x) { return softmax(x); }},
    {"log_softmax", [](const Graph&, const Tensor& x) { return log_softmax(x); }},
    {"mean", [](const Graph&, const Tensor& x) { return x - mean(x, {-1}, true); }},
    {"variance", [](const Graph&, const Tensor& x) { return x * variance(x, {-1}, true); }},
    {"layer_norm", [](const Graph& g, const Tensor& x) { return layer_norm(x, ramp(g, 1), ramp(g, 1), 0.25); }},
    {"rms_norm", [](const Graph& g, const Tensor& x) { return rms_norm(x, ramp(g, 1), 0.25); }},
    {"linear", [](const Graph& g, const Tensor& x) { return linear(x, ramp(g, 8), ramp(g, 1)); }},
    {"attention", [](const Graph&, const Tensor& x) { return causal(x); }},
    {"rope", [](const Graph& g, const Tensor& x) { return rope(x, iota(Graph(g), x.dim(0)), 100); }},
};

// Each composite fed by each, the inner one an output too; at one row and at several, plain and special numbers.
TEST(CompositePairs, EqualTheInterpreter) {
    const Context context;
    for (const RowComposite& outer : composites)
        for (const RowComposite& inner : composites) {
            SCOPED_TRACE(std::string(outer.name) + " of " + inner.name);
            Graph graph("pair");
            const Tensor x = graph.input("x", DType::f32, {graph.symbol("N", 1, 40), 8});
            const Tensor first = inner.call(graph, x);
            graph.output("inner", first);
            graph.output("outer", outer.call(graph, first));
            const auto set = runtime::parse_program_set(compile(graph, context, {.verify = true}).program());
            for (const std::int64_t rows : {1, 37})
                for (const int special_in : {0, 60}) {
                    const meaning::Inputs inputs = random_inputs(*graph.data(), {{"N", rows}}, 11, special_in);
                    CompiledRun run(set, context, inputs);
                    EXPECT_EQ(difference(run.run(inputs), judge(*graph.data(), inputs)), "") << rows << " rows";
                }
        }
}

}  // namespace
}  // namespace cairn::test
