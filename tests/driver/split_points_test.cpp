#include "driver/split_points.hpp"

#include "cairn/cairn.hpp"
#include "cairn/models/gpt2.hpp"
#include "tests/driver/own_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

/// Automatic splits.
namespace cairn {
namespace {

Refusal accepts_any(const Problem&) { return {}; }

void run_exp_of_few_rows(const Args& args, Team& team) {
    if (team.rank() != 0) return;
    const TensorArg &x = args.inputs[0], &y = args.outputs[0];
    for (std::int64_t r = 0; r < y.shape[0]; ++r)
        for (std::int64_t c = 0; c < y.shape[1]; ++c)
            reinterpret_cast<float*>(y.data)[r * y.strides[0] + c * y.strides[1]] =
                std::exp(reinterpret_cast<const float*>(x.data)[r * x.strides[0] + c * x.strides[1]]);
}

/// Fast for at most `most` rows, slow for more.
template <int most>
Kernel exp_of_few_rows() {
    Kernel kernel;
    kernel.id = "test.few" + std::to_string(most) + ".exp.f32@1";
    kernel.definition = "exp";
    kernel.accepts = accepts_any;
    kernel.run = run_exp_of_few_rows;
    kernel.cost = [](const Problem& problem) {
        const double flops = problem.outputs[0].shape[0].constant() <= most ? 1 : 1e12;
        return Cost{flops, 1, 1};
    };
    kernel.samples = {"exp | f32[N,64] -> f32[N,64] where N in 1..8"};
    return kernel;
}

Graph exponentials(std::int64_t low, std::int64_t high) {
    Graph g("exponentials");
    g.output("y", exp(g.input("x", DType::f32, {g.symbol("N", low, high), 64})));
    return g;
}

std::vector<std::int64_t> bounds(const Graph& graph, const Context& context, CompileOptions options = {}) {
    options.splits = {Split::automatic("N")};
    const CompileOptions found = driver::with_split_points(graph, context, options);
    EXPECT_FALSE(found.splits[0].is_automatic);
    return found.splits[0].upper_bounds;
}

TEST(SplitPoints, AreTheSizesAtWhichTheBestProgramChanges) {
    const Context two = test::context_with({exp_of_few_rows<16>()}),
                  three = test::context_with({exp_of_few_rows<16>(), exp_of_few_rows<256>()});
    using Bounds = std::vector<std::int64_t>;
    EXPECT_EQ(bounds(exponentials(1, 1024), two), (Bounds{1, 16})) << "one row has a program of its own";
    EXPECT_EQ(bounds(exponentials(2, 1024), two), Bounds{16});
    EXPECT_EQ(bounds(exponentials(2, 1024), three), (Bounds{16, 256}));
    EXPECT_EQ(bounds(exponentials(2, 1024), Context()), Bounds{}) << "one program is best for all";
    EXPECT_EQ(bounds(exponentials(1, 1), two), Bounds{});
    EXPECT_EQ(bounds(exponentials(1, 2), two), Bounds{1});
    EXPECT_EQ(bounds(exponentials(2, 3), two), Bounds{});
    EXPECT_EQ(bounds(exponentials(300, 1'000'000'000), two), Bounds{});
}

TEST(SplitPoints, AreFoundForSeveralSymbols) {
    Graph g("outer");
    const Dim n = g.symbol("N", 2, 1000), m = g.symbol("M", 2, 1000);
    g.output("y", exp(g.input("x", DType::f32, {n, m})));
    CompileOptions options;
    options.splits = {Split::automatic("M"), Split::automatic("N")};
    const CompileOptions found = driver::with_split_points(g, test::context_with({exp_of_few_rows<32>()}), options);
    EXPECT_EQ(found.splits[0].upper_bounds, std::vector<std::int64_t>{});
    EXPECT_EQ(found.splits[1].upper_bounds, std::vector<std::int64_t>{32});
}

TEST(SplitPoints, KeepGivenBounds) {
    Graph g("outer");
    const Dim n = g.symbol("N", 2, 1000), m = g.symbol("M", 2, 1000);
    g.output("y", exp(g.input("x", DType::f32, {n, m})));
    CompileOptions options;
    options.splits = {{"M", {7, 70}, {3, 2, 1}}, Split::automatic("N")};
    const CompileOptions found = driver::with_split_points(g, test::context_with({exp_of_few_rows<16>()}), options);
    EXPECT_EQ(found.splits[0].upper_bounds, (std::vector<std::int64_t>{7, 70}));
    EXPECT_EQ(found.splits[0].weights, (std::vector<double>{3, 2, 1}));
    EXPECT_EQ(found.splits[1].upper_bounds, std::vector<std::int64_t>{16});
}

TEST(SplitPoints, GiveProgramsThatRunAtAllSizes) {
    const Graph graph = exponentials(1, 1024);
    CompileOptions options;
    options.splits = {Split::automatic("N")};
    options.verify = true;
    CompiledGraph cut = compile(graph, test::context_with({exp_of_few_rows<16>()}), options);
    ASSERT_EQ(cut.explain().buckets.size(), 3U);
    for (const std::int64_t rows : {1, 2, 16, 17, 1024}) {
        std::vector<float> x(static_cast<std::size_t>(rows * 64));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) / 13;
        cut.set("x", x, {rows, 64});
        cut.run();
        const auto y = cut.output("y").as<float>();
        for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y[i], std::exp(x[i]), 1e-5) << rows << " rows, " << i;
    }
    options.disable = {"specialize"};
    EXPECT_EQ(compile(graph, Context(), options).explain().buckets.size(), 1U);
}

TEST(SplitPoints, OfAModelAreFew) {
    models::Gpt2Config config;
    config.layers = 2;
    CompileOptions options;
    options.splits = {Split::automatic("T")};
    const Graph graph = models::gpt2_graph(config, models::gpt2_weights(config));
    const std::vector<std::int64_t> found = driver::with_split_points(graph, Context(), options).splits[0].upper_bounds;
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0], 1) << "a step has a program of its own";
    EXPECT_LT(found.size(), 10U) << "of eleven cells some have the same program";
}

TEST(SplitPoints, FaultsAreNamed) {
    const Graph graph = exponentials(1, 8);
    const auto message = [&](Split split) {
        CompileOptions options;
        options.splits = {std::move(split)};
        try {
            compile(graph, Context(), options);
        } catch (const Error& error) { return std::string(error.what()); }
        return std::string();
    };
    Split both = Split::automatic("N");
    both.upper_bounds = {4};
    EXPECT_EQ(message(both), "[compile] the split of N is automatic: its bounds and weights cannot be named");
    EXPECT_EQ(message(Split::automatic("K")), "[compile] a split names the unknown symbol K");
}

}  // namespace
}  // namespace cairn
