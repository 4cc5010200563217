#include "cairn/cairn.hpp"
#include "runtime/compiled_graph.hpp"
#include "tests/autotune/policy/inexact_product.hpp"
#include "tests/driver/heap_counter.hpp"
#include "tests/driver/own_kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

/// Exact programs that verify inexact ones.
namespace cairn {
namespace {

constexpr std::int64_t inner = 64;

std::int64_t all_bytes(const MemoryReport& memory) {
    return memory.bound + memory.states + memory.arena + memory.constants + memory.verification;
}

/// A chain of products, the last one minus `c`; all of them outputs.
Graph products(int count) {
    Graph g("products");
    const Dim n = g.symbol("N", 1, 32);
    Tensor value = g.input("x", DType::f32, {n, inner});
    for (int i = 0; i < count; ++i) {
        value = matmul(value, g.weight("w" + std::to_string(i), DType::f32, {inner, inner}));
        if (i + 1 == count) value = value - g.input("c", DType::f32, {n, inner});
        g.output("y" + std::to_string(i), value);
    }
    return g;
}

class VerificationCoversTest : public testing::Test {
protected:
    CompiledGraph compiled(const Graph& graph, const CompileOptions& options) const {
        CompileOptions checked = options;
        checked.verify = true;
        CompiledGraph model = compile(graph, context, checked);
        model.bind([this](std::string_view) {
            InputView view;
            view.data = weight.data();
            view.shape = {inner, inner};
            return view;
        });
        return model;
    }
    /// Runs with `c` close to the last product if `amplified`, otherwise zero.
    void run(CompiledGraph& model, bool amplified, std::int64_t rows = 3) const {
        const auto count = static_cast<std::size_t>(rows * inner);
        // The memory of inputs is borrowed by all runs until it is set again.
        std::vector<float>& x = held.emplace_back(weight.begin(), weight.begin() + rows * inner);
        std::vector<float>& c = held.emplace_back(count, 0);
        if (amplified) {
            CompiledGraph exact = compiled(products(1), {});
            run(exact, false, rows);
            const auto y = exact.output("y0").as<float>();
            for (std::size_t i = 0; i < count; ++i) c[i] = y[i] * (1 + 1e-4F);
        }
        model.set("x", x, {rows, inner});
        model.set("c", c, {rows, inner});
        model.run();
    }
    static bool is_inexact(const CompiledGraph& model) { return model.program().find("test.") != std::string::npos; }

    const Context context = test::context_with({test::inexact_product()});
    const std::vector<float> weight = [] {
        std::mt19937 random(1);
        std::uniform_real_distribution<float> real(-0.2F, 0.2F);
        std::vector<float> values(inner * inner);
        for (float& value : values) value = real(random);
        return values;
    }();
    mutable std::deque<std::vector<float>> held;
    const CompileOptions loose{.tolerance = Tolerance::relative(1e-2)};
};

TEST_F(VerificationCoversTest, IsTheSelectionOfAnExactTolerance) {
    CompiledGraph model = compiled(products(1), loose), exact = compiled(products(1), {});
    ASSERT_TRUE(is_inexact(model));
    EXPECT_FALSE(is_inexact(exact));
    run(model, true);
    EXPECT_EQ(model.program(), exact.program());
    ASSERT_EQ(model.verified_errors().size(), 1U);
    EXPECT_TRUE(model.verified_errors()[0].fell_back);
}

TEST_F(VerificationCoversTest, ExistsForEachInexactBucket) {
    CompileOptions options = loose;
    options.splits = {{"N", {1, 8}}};
    CompiledGraph model = compiled(products(2), options);
    std::vector<std::string> rows;
    for (const VerifiedError& row : model.verified_errors()) rows.push_back(row.bucket + " " + row.value);
    EXPECT_EQ(rows, (std::vector<std::string>{"N in 1..1 output \"y0\"", "N in 1..1 output \"y1\"",
                                              "N in 2..8 output \"y0\"", "N in 2..8 output \"y1\"",
                                              "N in 9..32 output \"y0\"", "N in 9..32 output \"y1\""}));
    EXPECT_EQ(model.verified_errors()[0].expected, 5e-3);
    EXPECT_DOUBLE_EQ(model.verified_errors()[1].expected, std::sqrt(2) * 5e-3);
    for (const std::int64_t n : {1, 5, 20}) {
        EXPECT_GT(model.memory().verification, 0);
        run(model, false, n);
        const MemoryReport report = model.memory({{"N", n}});
        const std::vector<std::pair<std::string_view, std::int64_t>> sizes{{"N", n}};
        EXPECT_EQ(model.memory(sizes).arena, report.arena) << "sizes in a list made at run time";
        EXPECT_EQ(report.verification, 0);
    }
    EXPECT_EQ(model.memory().verification, 0);
}

TEST_F(VerificationCoversTest, IsComparedOnlyAtInexactOutputs) {
    CompileOptions options = loose;
    options.output_tolerances = {{"y0", Tolerance::exact()}};
    CompiledGraph model = compiled(products(2), options);
    ASSERT_TRUE(is_inexact(model));
    ASSERT_EQ(model.verified_errors().size(), 1U);
    EXPECT_EQ(model.verified_errors()[0].value, "output \"y1\"");
    options.output_tolerances = {{"y1", Tolerance::exact()}};
    EXPECT_TRUE(compiled(products(2), options).verified_errors().empty()) << "y1 is made of y0";
}

TEST_F(VerificationCoversTest, PermitsAStateTheStrictestToleranceOfItsOutputs) {
    Graph g("g");
    const Dim past = g.symbol("P", 0, 7);
    State rows = g.state("rows", DType::f32, {past, inner}, 0, 8);
    const Tensor w = g.weight("w", DType::f32, {inner, inner});
    const Tensor all = rows.append(matmul(g.input("x", DType::f32, {1, inner}), w));
    g.output("sum", sum(all, {0}));
    g.output("next", matmul(all, w));
    CompileOptions options;
    options.tolerance = Tolerance::relative(1);
    options.output_tolerances = {{"sum", Tolerance::relative(6e-3)}};
    std::map<std::string, std::array<double, 2>> limits;
    for (const VerifiedError& row : compiled(g, options).verified_errors())
        limits[row.value] = {row.allowed, row.expected};
    EXPECT_EQ(limits, (std::map<std::string, std::array<double, 2>>{{"output \"sum\"", {6e-3, 5e-3}},
                                                                    {"output \"next\"", {1, std::hypot(5e-3, 5e-3)}},
                                                                    {"state \"rows\"", {6e-3, 5e-3}}}));
}

TEST_F(VerificationCoversTest, FitsTheMemoryLimitOrIsTheOnlyProgram) {
    const Graph graph = products(3);
    CompileOptions options;
    options.tolerance = Tolerance::relative(1);
    const std::int64_t both = all_bytes(compiled(graph, options).memory());
    CompileOptions exact_options;
    const std::int64_t alone = all_bytes(compiled(graph, exact_options).memory());
    int inexact = 0, exact = 0, none = 0;
    for (std::int64_t limit = both; limit > 0; limit -= both / 16) {
        options.memory_limit = limit;
        try {
            CompiledGraph model = compiled(graph, options);
            EXPECT_LE(all_bytes(model.memory()), limit);
            EXPECT_EQ(model.verified_errors().empty(), !is_inexact(model));
            EXPECT_EQ(exact + none > 0 && is_inexact(model), false) << "less room, and yet more";
            ++(is_inexact(model) ? inexact : exact);
            run(model, false);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::memory);
            EXPECT_LT(limit, alone);
            ++none;
        }
    }
    EXPECT_GT(inexact, 0);
    EXPECT_GT(exact, 0);
    EXPECT_GT(none, 0);
}

TEST_F(VerificationCoversTest, ExistsForACompiledPath) {
    CompileOptions options = loose;
    options.disable = {"pack", "expand"};
    int seen = 0;
    for (const Path& path : paths(products(1), context, options).cheapest_first()) {
        const CompiledGraph model = path.compile();
        EXPECT_EQ(model.verified_errors().empty(), !is_inexact(model));
        seen += is_inexact(model) ? 1 : 0;
    }
    EXPECT_GT(seen, 0);
}

TEST_F(VerificationCoversTest, IsFreedAfterTheComparison) {
    for (const bool amplified : {false, true}) {
        CompiledGraph model = compiled(products(1), loose), other = model.instance();
        run(model, amplified);
        EXPECT_EQ(model.verified_errors()[0].fell_back, amplified);
        for (CompiledGraph* each : {&model, &other}) {
            run(*each, false);
            const test::HeapCounter steps(-1);
            for (int i = 0; i < 3; ++i) each->run();
            EXPECT_EQ(steps.allocated(), 0) << amplified;
        }
    }
}

// Flops that the inexact kernel states for a product, by its number of columns.
std::array<double, 4> claimed;

TEST_F(VerificationCoversTest, IsSelectedIfFaster) {
    Kernel kernel = test::inexact_product();
    kernel.cost = [](const Problem& problem) {
        return Cost{claimed.at(static_cast<std::size_t>(problem.outputs[0].shape[1].constant() / 16 - 1)), 1, 1};
    };
    const Context racing = test::context_with({kernel});
    std::mt19937 random(4);
    std::uniform_real_distribution<double> exponent(1, 8);
    int with = 0, without = 0;
    for (int round = 0; round < 30; ++round) {
        for (double& flops : claimed) flops = std::pow(10, exponent(random));
        Graph g("race");
        Tensor value = g.input("x", DType::f32, {8, 16});
        for (int i = 0; i < 4; ++i) {
            const std::int64_t from = value.shape()[1].constant();
            value = tanh(matmul(value, g.weight("w" + std::to_string(i), DType::f32, {from, 16 * (i + 1)})));
            if (i % 2 == 1) g.output("y" + std::to_string(i), value);
        }
        const auto seconds = [](const CompiledGraph& model) {
            double sum = 0;
            const runtime::ProgramSet set = runtime::parse_program_set(model.program());
            for (const auto& instruction : set.buckets[0].program.run) sum += instruction.seconds;
            return sum;
        };
        const CompiledGraph exact = compile(g, racing, {});
        double last = seconds(exact);
        EXPECT_GT(last, 0);
        for (const double limit : {5e-3, 1e-2, 1.5e-2, 2e-2, 1.0}) {
            const CompiledGraph model = compile(g, racing, {.tolerance = Tolerance::relative(limit)});
            EXPECT_LE(seconds(model), last * (1 + 1e-6)) << round << ", " << limit;
            last = seconds(model);
            ++(model.verified_errors().empty() ? without : with);
        }
    }
    EXPECT_GT(with, 0);
    EXPECT_GT(without, 0);
}

}  // namespace
}  // namespace cairn
