#include "cairn/composites.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/reference_results.hpp"

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

const RowComposite rows_of_numbers[] = {
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

// The eight numbers of a row as two channels of four positions, and back.
Tensor in_channels(const Tensor& x) { return reshape(x, {x.dim(0), 2, 4}); }
Tensor in_row(const Tensor& x) { return reshape(x, {x.dim(0), 8}); }
Tensor table(const Graph& graph, Shape shape) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < element_count(shape).constant(); ++i)
        values.push_back(static_cast<double>(i * 3 % 7 - 2) / 8);
    return Graph(graph).constant(DType::f32, std::move(shape), values);
}
ConvOptions padded() {
    ConvOptions options;
    options.padding = 1;
    return options;
}
PoolOptions side_by_side() {
    PoolOptions options;
    options.stride = 1;
    options.padding = 1;
    return options;
}

// Composites of channels and positions, and those that permute or select elements.
const RowComposite others[] = {
    {"conv1d",
     [](const Graph& g, const Tensor& x) {
         return in_row(conv1d(in_channels(x), table(g, {2, 2, 3}), table(g, {2}), padded()));
     }},
    {"conv2d",
     [](const Graph& g, const Tensor& x) {
         return in_row(conv2d(reshape(x, {x.dim(0), 1, 2, 4}), table(g, {1, 1, 3, 3}), padded()));
     }},
    {"conv_transpose1d",
     [](const Graph& g, const Tensor& x) {
         return in_row(conv_transpose1d(in_channels(x), table(g, {2, 2, 3}), padded()));
     }},
    {"max_pool", [](const Graph&, const Tensor& x) { return in_row(max_pool(in_channels(x), 3, side_by_side())); }},
    {"avg_pool", [](const Graph&, const Tensor& x) { return in_row(avg_pool(in_channels(x), 3, side_by_side())); }},
    {"batch_norm",
     [](const Graph& g, const Tensor& x) {
         const Tensor mean = table(g, {8}), spread = abs(table(g, {8})) + 0.5;
         return batch_norm(x, ramp(g, 1), ramp(g, 1), mean, spread, 0.25);
     }},
    {"group_norm",
     [](const Graph& g, const Tensor& x) {
         return in_row(group_norm(reshape(x, {x.dim(0), 4, 2}), 2, table(g, {4}), table(g, {4}), 0.25));
     }},
    {"instance_norm",
     [](const Graph& g, const Tensor& x) {
         return in_row(instance_norm(in_channels(x), table(g, {2}), table(g, {2}), 0.25));
     }},
    {"upsample_nearest",
     [](const Graph&, const Tensor& x) { return in_row(upsample_nearest(slice(in_channels(x), 2, 1, 3), 2)); }},
    {"upsample_linear",
     [](const Graph&, const Tensor& x) { return in_row(upsample_linear(slice(in_channels(x), 2, 1, 3), 2)); }},
    {"resize_linear",
     [](const Graph&, const Tensor& x) { return in_row(resize_linear(slice(in_channels(x), 2, 0, 3), {4})); }},
    {"topk",
     [](const Graph&, const Tensor& x) {
         return concat({topk(x, 5).values, topk(x, 3, -1, false).values}, 1);
     }},
    {"swiglu", [](const Graph&, const Tensor& x) { return swiglu(x, x * 0.5); }},
    {"geglu", [](const Graph&, const Tensor& x) { return geglu(x * 0.5, x); }},
    {"clamp", [](const Graph&, const Tensor& x) { return clamp(x, -0.75, 0.5); }},
    {"stack",
     [](const Graph&, const Tensor& x) {
         return in_row(stack({slice(x, 1, 0, 4), slice(x, 1, 4, 8)}, 2));
     }},
    {"tile",
     [](const Graph&, const Tensor& x) {
         return tile(slice(x, 1, 2, 6), {1, 2});
     }},
    {"repeat", [](const Graph&, const Tensor& x) { return repeat(slice(x, 1, 2, 6), 2, 1); }},
    {"min_reduce", [](const Graph&, const Tensor& x) { return x - min_reduce(x, {-1}, true); }},
};

// Discontinuous composites get exact numbers: those of the input.
const RowComposite jumps[] = {
    {"round", [](const Graph&, const Tensor& x) { return round(x * 4); }},
    {"sign", [](const Graph&, const Tensor& x) { return sign(x); }},
    {"argmin", [](const Graph&, const Tensor& x) { return x + cast(argmin(x, -1, true), DType::f32); }},
    {"one_hot", [](const Graph&, const Tensor& x) { return one_hot(argmax(x, -1), 8, DType::f32) + x; }},
    {"any", [](const Graph&, const Tensor& x) { return where(any(x > 1, {-1}, true), x, -x); }},
};

void expect_pair(const RowComposite& outer, const RowComposite& inner, const Context& context) {
    SCOPED_TRACE(std::string(outer.name) + " of " + inner.name);
    Graph graph("pair");
    const Tensor x = graph.input("x", DType::f32, {graph.symbol("N", 1, 40), 8});
    const Tensor first = inner.call(graph, x);
    graph.output("inner", first);
    graph.output("outer", outer.call(graph, first));
    const auto set = runtime::parse_program_set(compile(graph, context, {.verify = true}).program());
    for (const std::int64_t rows : {1, 37})
        for (const int special_in : {0, 60}) {
            const interpreter::Inputs inputs = random_inputs(*graph.data(), {{"N", rows}}, 11, special_in);
            CompiledRun run(set, context, inputs);
            EXPECT_EQ(difference(run.run(inputs), reference_results(*graph.data(), inputs)), "") << rows << " rows";
        }
}

// Each composite applied to the result of each other one, which is an output too; with one and several rows, ordinary
// and special numbers.
TEST(CompositePairs, EqualTheInterpreter) {
    const Context context;
    for (const RowComposite& outer : rows_of_numbers)
        for (const RowComposite& inner : rows_of_numbers) expect_pair(outer, inner, context);
}

TEST(CompositePairs, OfChannelsAndLayoutsEqualTheInterpreter) {
    const Context context;
    for (const RowComposite& other : others) {
        for (const RowComposite& row : rows_of_numbers) {
            expect_pair(other, row, context);
            expect_pair(row, other, context);
        }
        for (const RowComposite& inner : others) expect_pair(other, inner, context);
    }
}

TEST(CompositePairs, OfDiscontinuousCompositesEqualTheInterpreter) {
    const Context context;
    for (const RowComposite& jump : jumps) {
        for (const RowComposite& outer : rows_of_numbers) expect_pair(outer, jump, context);
        for (const RowComposite& outer : others) expect_pair(outer, jump, context);
    }
}

}  // namespace
}  // namespace cairn::test
