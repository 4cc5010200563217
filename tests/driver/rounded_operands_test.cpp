#include "cairn/cairn.hpp"
#include "cairn/paths.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/driver/own_kernels.hpp"
#include "tests/graph/ir/random_generator.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

// Large operands stored in bf16 between the kernel that computes them and one that widens them.
namespace cairn::test {
namespace {

constexpr std::int64_t heads = 2, depth = 32;
constexpr double each = 0x1p-8;  // error of rounding one operand

/// Attention with nearly no cost if keys and values are narrow.
Kernel own_attention() {
    const Context all;
    for (const Kernel& kernel : all.kernels().kernels) {
        if (kernel.definition != "attention" || kernel.needs != levels::baseline || kernel.widened_inputs.empty())
            continue;
        Kernel own = kernel;
        own.id = "own.attention@1";
        own.cost = [](const Problem& problem) {
            return Cost{0, problem.inputs[1].dtype == DType::f32 ? 20e9 : 20e3, 1};
        };
        return own;
    }
    throw std::runtime_error("no attention that widens");
}

/// q, k and v computed from x, and attention; no states.
struct Block {
    Graph g{"block"};
    Dim n = g.symbol("N", 1, 1024);
    Tensor x = g.input("x", DType::f32, {1, heads, n, depth});
    Tensor keys = tanh(x * 2.0F), values = x + 1.0F;
    Tensor y = attention(x, keys, values);
};

class RoundedOperands : public testing::Test {
protected:
    static bool is_narrow(const CompiledGraph& model) { return model.program().find(" bf16[") != std::string::npos; }
    CompiledGraph compiled(const Graph& graph, Tolerance tolerance, std::vector<OutputTolerance> own = {}) const {
        CompileOptions options;
        options.tolerance = tolerance;
        options.output_tolerances = std::move(own);
        options.verify = true;
        return compile(graph, context, options);
    }
    static ExplainedError error_of(const CompiledGraph& model) { return model.explain().buckets.at(0).errors.at(0); }

    const Context context = context_with({own_attention()});
};

Graph block() {
    Block b;
    b.g.output("y", b.y);
    return b.g;
}

std::vector<float> run(CompiledGraph& model, std::int64_t rows) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> x(static_cast<std::size_t>(heads * rows * depth));
    for (float& value : x) value = normal(random);
    model.set("x", x, {1, heads, rows, depth});
    model.run();
    const auto y = model.output("y").as<float>();
    return {y.begin(), y.end()};
}

TEST_F(RoundedOperands, AreSelectedIfFasterAndWithinTolerance) {
    CompiledGraph model = compiled(block(), Tolerance::relative(2e-2)), exact = compiled(block(), Tolerance::exact());
    ASSERT_TRUE(is_narrow(model));
    EXPECT_FALSE(is_narrow(exact));
    const ExplainedError reported = error_of(model);
    EXPECT_DOUBLE_EQ(reported.error, std::sqrt(2) * each);
    EXPECT_EQ(reported.tolerance, 2e-2);
    for (const std::int64_t rows : {1, 7, 100}) {
        const std::vector<float> y = run(model, rows), wanted = run(exact, rows);
        double difference = 0, square = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            difference += std::pow(y[i] - wanted[i], 2);
            square += std::pow(wanted[i], 2);
        }
        EXPECT_LT(std::sqrt(difference / square), 2 * each) << rows;
        EXPECT_GT(difference, 0) << rows;
    }
    EXPECT_TRUE(error_of(model).verified) << "by the first run";
    EXPECT_FALSE(model.explain().buckets[0].fell_back);
}

TEST_F(RoundedOperands, AreWrittenByTheirProducers) {
    const auto program = runtime::parse_program_set(compiled(block(), Tolerance::relative(2e-2)).program());
    EXPECT_EQ(program.buckets[0].program.run.size(), 3U) << "keys, values, attention";
}

TEST_F(RoundedOperands, AreExcludedByATightTolerance) {
    EXPECT_FALSE(is_narrow(compiled(block(), Tolerance::relative(1.4 * each))));
    EXPECT_TRUE(is_narrow(compiled(block(), Tolerance::relative(1.5 * each))));
}

TEST_F(RoundedOperands, AreExcludedByAnExactOutputOfTheirValue) {
    Block b;
    b.g.output("y", b.y);
    b.g.output("beside", sum(b.x, {-1}));
    EXPECT_TRUE(is_narrow(compiled(b.g, Tolerance::relative(2e-2), {{"beside", Tolerance::exact()}})));
    b.g.output("keys", b.keys * 2.0F);
    EXPECT_FALSE(is_narrow(compiled(b.g, Tolerance::relative(2e-2), {{"keys", Tolerance::exact()}})));
}

TEST_F(RoundedOperands, AreRefusedByExactWithAReason) {
    const std::string reported = why_not(compiled(block(), Tolerance::exact()).explain(), "elementwise");
    EXPECT_NE(reported.find("for bf16[1,2,N,32]"), std::string::npos) << reported;
    EXPECT_NE(reported.find("refused: its relative error is 0.003906, the error budget of an output permits none"),
              std::string::npos)
        << reported;
}

TEST_F(RoundedOperands, OneReadTwiceCountsOnceInTheBudget) {
    Block b;
    b.g.output("y", b.y + attention(b.x * 0.5F, b.keys, b.values));
    const CompiledGraph model = compiled(b.g, Tolerance::relative(2e-2));
    EXPECT_TRUE(is_narrow(model));
    EXPECT_DOUBLE_EQ(error_of(model).error, std::sqrt(2) * each);
}

/// Twice the work, with different keys and values.
Graph two_blocks() {
    Block b;
    b.g.output("y", b.y + attention(cos(b.x), abs(b.x), sin(b.x)));
    return b.g;
}

TEST_F(RoundedOperands, EachValueCountsInTheBudget) {
    EXPECT_DOUBLE_EQ(error_of(compiled(two_blocks(), Tolerance::relative(2.1 * each))).error, 2 * each);
    EXPECT_DOUBLE_EQ(error_of(compiled(two_blocks(), Tolerance::relative(1.9 * each))).error, std::sqrt(2) * each);
}

TEST_F(RoundedOperands, MoreToleranceNeverCostsMore) {
    const auto cost = [&](const Graph& graph, double tolerance) {
        CompileOptions options;
        if (tolerance > 0) options.tolerance = Tolerance::relative(tolerance);
        return paths(graph, context, options).cheapest_first().begin()->cost();
    };
    const Graph g = two_blocks();
    double before = cost(g, 0), first = before;
    for (const double tolerance : {1e-4, each, 2 * each, 3 * each, 4 * each, 0.1, 0.5}) {
        const double now = cost(g, tolerance);
        EXPECT_LE(now, before) << tolerance;
        before = now;
    }
    EXPECT_LT(before, first / 2);
}

// A rounding cast is never one of a weight: the bound value and its cast are the same in buckets that round and others.
TEST_F(RoundedOperands, BoundValuesAreSharedWithBucketsThatRoundNothing) {
    Graph g;
    const Dim n = g.symbol("N", 1, 1024);
    const Tensor x = g.input("x", DType::f32, {1, heads, n, depth});
    const Tensor w = cast(g.weight("w", DType::f16, {depth, depth}), DType::f32);
    g.output("y", attention(matmul(x, w), x, x));
    CompileOptions options;
    options.tolerance = Tolerance::relative(2e-2);
    options.splits = {{"N", {16}}};
    const CompiledGraph model = compile(g, context, options);
    EXPECT_TRUE(is_narrow(model));
    const auto set = runtime::parse_program_set(model.program());
    ASSERT_EQ(set.buckets.size(), 2U);
    std::vector<std::set<std::string>> bound(2), kernels(2);
    for (std::size_t b = 0; b < 2; ++b) {
        const program::Program& program = set.buckets[b].program;
        for (const program::Buffer& buffer : program.buffers)
            if (buffer.kind == program::BufferKind::bound) bound[b].insert(buffer.name);
        for (const auto* section : {&program.bind, &program.run})
            for (const program::Instruction& each : *section)
                if (each.problem->definition == "cast") kernels[b].insert(each.kernel);
    }
    EXPECT_FALSE(bound[0].empty());
    EXPECT_EQ(bound[0], bound[1]);
    EXPECT_EQ(kernels[0], kernels[1]) << "one kernel for both";
}

TEST_F(RoundedOperands, ASecondContextAcceptsTheSavedFile) {
    const auto file = std::filesystem::path(CAIRN_BINARY_DIR) / "rounded_operands";
    CompiledGraph saved = compiled(block(), Tolerance::relative(2e-2));
    saved.save(file);
    CompiledGraph loaded = CompiledGraph::load(file, context);
    EXPECT_EQ(run(loaded, 9), run(saved, 9));
}

/// Layers that attend to keys and values which are computed, sliced and merged differently.
Graph random_layers(std::uint64_t seed) {
    RandomGenerator random(seed);
    Graph g("layers");
    const Dim n = g.symbol("N", 1, 2048);
    Tensor x = g.input("x", DType::f32, {1, n, heads * depth});
    const auto split = [&](const Tensor& value) {
        return transpose(reshape(value, {1, n, heads, depth}), {0, 2, 1, 3});
    };
    const auto weight = [&](const std::string& name, std::int64_t width) {
        return g.weight(name, DType::f32, {heads * depth, width});
    };
    const int layers = 1 + random.below(2);
    for (int layer = 0; layer < layers; ++layer) {
        const std::string at = std::to_string(layer);
        const Tensor qkv = matmul(x, weight("w" + at, 3 * heads * depth) * 0.1F);
        std::vector<Tensor> parts;
        for (int i = 0; i < 3; ++i) {
            const Tensor part = random.one_in(2) ? slice(qkv, -1, i * heads * depth, (i + 1) * heads * depth)
                                                 : matmul(x, weight(at + std::to_string(i), heads * depth) * 0.1F);
            const int how = random.below(3);
            parts.push_back(how == 0 ? split(part) : how == 1 ? split(tanh(part)) : split(part) * 0.5F + 0.25F);
        }
        const Tensor a = attention(parts[0], parts[1], parts[2]);
        x = x + reshape(transpose(a, {0, 2, 1, 3}), {1, n, heads * depth});
        if (random.one_in(4)) g.output("keys" + at, parts[1]);
    }
    g.output("y", x);
    return g;
}

TEST_F(RoundedOperands, RandomLayersAgreeWithinTheBound) {
    constexpr double bound = 0.05;
    int narrow = 0;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const Graph g = random_layers(seed);
        CompileOptions options;
        options.tolerance = Tolerance::relative(bound);
        options.verify = true;
        const Paths all_paths = paths(g, context, options);
        for (const Path& path : all_paths.cheapest_first() | std::views::take(4)) {
            const CompiledGraph model = path.compile();
            narrow += is_narrow(model);
            const runtime::ProgramSet set = runtime::parse_program_set(model.program());
            for (const std::int64_t n : {1, 5}) {
                const interpreter::Inputs inputs = random_inputs(*g.data(), {{"N", n}}, seed);
                CompiledRun run(set, context, inputs);
                ASSERT_EQ(compare(run.run(inputs), interpreter::interpret(*g.data(), inputs), bound), "")
                    << seed << path;
            }
        }
    }
    EXPECT_GT(narrow, 40);
}

}  // namespace
}  // namespace cairn::test
