#include "accuracy/kernel_check/kernel_error.hpp"
#include "cairn/cairn.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "tests/autotune/policy/inexact_product.hpp"
#include "tests/driver/own_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

/// Effects of a tolerance, from the options to the results.
namespace cairn {
namespace {

constexpr std::int64_t features = 64;
constexpr double promised = 5e-3;  // error stated for each product

/// A chain of products, each with an output: `y0`, `y1`, ...
Graph chain(int products) {
    Graph g("chain");
    const Dim n = g.symbol("N", 1, 32);
    Tensor value = g.input("x", DType::f32, {n, features});
    for (int i = 0; i < products; ++i) {
        value = matmul(value, g.weight("w" + std::to_string(i), DType::f32, {features, features}));
        g.output("y" + std::to_string(i), value);
    }
    return g;
}

std::vector<double> numbers(std::size_t count, unsigned seed, double scale) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> real(-scale, scale);
    std::vector<double> result(count);
    for (double& x : result) x = real(random);
    return result;
}

class OutputToleranceTest : public testing::Test {
protected:
    CompiledGraph compiled(const Graph& graph, const CompileOptions& options) const {
        CompileOptions checked = options;
        checked.verify = true;
        return compile(graph, context, checked);
    }

    static int products_by(const CompiledGraph& compiled, const std::string& kernel) {
        const std::string text = compiled.program();
        int count = 0;
        for (std::size_t at = text.find(kernel); at != std::string::npos; at = text.find(kernel, at + 1)) ++count;
        return count;
    }
    static int inexact_products(const CompiledGraph& compiled) { return products_by(compiled, "test.bf16.matmul"); }
    static bool explains(const CompiledGraph& compiled, const std::string& words) {
        return details(compiled.explain()).find(words) != std::string::npos;
    }

    /// Error of an output against the interpreter, on random data.
    static kernel_check::ErrorNorms off(CompiledGraph& compiled, const Graph& graph, const std::string& output,
                                        std::int64_t rows = 7) {
        interpreter::Inputs inputs;
        inputs.sizes["N"] = rows;
        std::map<std::string, std::vector<float>, std::less<>> held;
        const auto make = [&](const std::string& name, std::vector<std::int64_t> shape, double scale) {
            const auto count = static_cast<std::size_t>(shape[0] * shape[1]);
            const auto seed = static_cast<unsigned>(std::hash<std::string>()(name));
            inputs.tensors[name] = interpreter::make_value(DType::f32, shape, numbers(count, seed, scale));
            const std::vector<double>& values = inputs.tensors[name].data;
            held[name].assign(values.begin(), values.end());
        };
        make("x", {rows, features}, 2);
        for (const ir::Node& node : graph.data()->nodes())
            if (node.op == ir::Op::weight) make(node.name, {features, features}, 0.2);
        compiled.bind([&](std::string_view name) {
            InputView view;
            view.data = held.find(name)->second.data();
            view.shape = {features, features};
            return view;
        });
        compiled.set("x", held["x"].data(), {rows, features});
        compiled.run();
        const auto y = compiled.output(output).as<float>();
        const interpreter::Value got{DType::f32, {rows, features}, {y.begin(), y.end()}, {}};
        return kernel_check::error_norms(got, interpreter::interpret(*graph.data(), inputs).outputs.at(output));
    }

    const Context context = test::context_with({test::inexact_product()});
};

TEST_F(OutputToleranceTest, ExactRefusesAnInexactKernelWithAReason) {
    const Graph graph = chain(1);
    CompiledGraph exact = compiled(graph, {});
    EXPECT_EQ(inexact_products(exact), 0);
    const auto reason = [](const CompiledGraph& compiled) {
        const std::string text = why_not(compiled.explain(), "test.bf16.matmul.f32@1");
        return text.substr(text.find(": ") + 2);
    };
    EXPECT_EQ(reason(exact), "refused: its relative error is 0.005, the tolerance is exact\n");
    EXPECT_FALSE(explains(exact, "combined error"));
    EXPECT_LT(off(exact, graph, "y0").combined(), 1e-6);
    CompiledGraph narrow = compiled(graph, {.tolerance = Tolerance::relative(1e-3)});
    EXPECT_EQ(inexact_products(narrow), 0);
    EXPECT_EQ(reason(narrow), "refused: its relative error is 0.005, the tolerance is 0.001\n");
}

TEST_F(OutputToleranceTest, ALooseToleranceAcceptsAnError) {
    const Graph graph = chain(1);
    CompiledGraph loose = compiled(graph, {.tolerance = Tolerance::relative(1e-2)});
    EXPECT_EQ(inexact_products(loose), 1);
    EXPECT_TRUE(explains(loose, "the combined error of output \"y0\" is 0.005, allowed is 0.01")) << loose.explain();
    EXPECT_TRUE(explains(loose, " s estimated, error 0.005 stated | matmul")) << loose.explain();
    const kernel_check::ErrorNorms found = off(loose, graph, "y0");
    RecordProperty("relative_error", std::to_string(found.relative));
    RecordProperty("largest_error", std::to_string(found.largest));
    EXPECT_GT(found.relative, 5e-4) << "it is inexact indeed";
    EXPECT_LE(found.relative, promised);
    EXPECT_LE(found.largest, 10 * promised);
}

TEST_F(OutputToleranceTest, SquaresOfErrorsThatContributeToAnOutputAddUp) {
    const Graph graph = chain(5);
    for (const int fitting : {1, 3, 5}) {
        const double limit = std::sqrt(fitting + 0.5) * promised;
        CompiledGraph found = compiled(graph, {.tolerance = Tolerance::relative(limit)});
        EXPECT_EQ(inexact_products(found), fitting) << found.explain();
        for (const char* output : {"y0", "y4"}) {
            CompiledGraph again = compiled(graph, {.tolerance = Tolerance::relative(limit)});
            EXPECT_LE(off(again, graph, output).combined(), limit) << output;
        }
    }
}

TEST_F(OutputToleranceTest, AnOutputMayHaveItsOwnTolerance) {
    const Graph graph = chain(3);
    CompileOptions options;
    options.tolerance = Tolerance::relative(1);
    options.output_tolerances = {{"y1", Tolerance::exact()}};
    CompiledGraph found = compiled(graph, options);
    EXPECT_EQ(inexact_products(found), 1) << "behind y1 alone";
    EXPECT_TRUE(explains(found, "the combined error of output \"y1\" is 0, allowed is none")) << found.explain();
    EXPECT_LT(off(found, graph, "y1").combined(), 1e-6);
    options.tolerance = Tolerance::exact();
    options.output_tolerances = {{"y0", Tolerance::relative(1)}};
    EXPECT_EQ(inexact_products(compiled(graph, options)), 0) << "y1 and y2 are made of y0";
    options.output_tolerances = {{"y2", Tolerance::relative(1)}};
    EXPECT_EQ(inexact_products(compiled(graph, options)), 1);
}

TEST_F(OutputToleranceTest, EveryBucketIsWithinIt) {
    const Graph graph = chain(3);
    CompileOptions options;
    options.splits = {{"N", {1, 8}}};
    options.tolerance = Tolerance::relative(1.6 * promised);
    CompiledGraph found = compiled(graph, options);
    EXPECT_EQ(inexact_products(found), 3 * 2);
    for (const std::int64_t rows : {1, 5, 20}) {
        CompiledGraph again = compiled(graph, options);
        EXPECT_LE(off(again, graph, "y2", rows).combined(), 1.6 * promised) << rows;
    }
}

TEST_F(OutputToleranceTest, BytesAndErrorsAreLimitedTogether) {
    const Graph graph = chain(3);
    CompileOptions options;
    options.tolerance = Tolerance::relative(1.6 * promised);
    const MemoryReport free = compiled(graph, options).memory();
    options.memory_limit = free.bound + free.states + free.arena + free.constants + free.verification;
    CompiledGraph found = compiled(graph, options);
    EXPECT_EQ(inexact_products(found), 2);
    EXPECT_LE(off(found, graph, "y2").combined(), 1.6 * promised);
}

// Each kernel alone is within the tolerance; some paths as a whole are not.
TEST_F(OutputToleranceTest, APathBeyondItIsCountedAndNotCompiled) {
    CompileOptions options;
    options.tolerance = Tolerance::relative(1.2 * promised);
    options.disable = {"pack", "expand"};
    int compiled = 0, refused = 0;
    for (const Path& path : paths(chain(2), context, options).cheapest_first()) {
        int inexact = 0;
        for (const PathStep& step : path.steps()) inexact += step.kernel == "test.bf16.matmul.f32@1" ? 1 : 0;
        try {
            EXPECT_EQ(inexact_products(path.compile()), inexact);
            EXPECT_LT(inexact, 2);
            ++compiled;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::unsupported);
            EXPECT_STREQ(error.what(), "[paths] the combined error of output \"y1\" is 0.007071, allowed is 0.006");
            EXPECT_EQ(inexact, 2);
            ++refused;
        }
    }
    EXPECT_EQ(refused, 1);
    options.tolerance = Tolerance::exact();
    const double exact = std::sqrt(std::stod(paths(chain(2), context, options).count()));
    EXPECT_EQ(compiled + refused, (exact + 1) * (exact + 1)) << "one more alternative for each product";
}

TEST_F(OutputToleranceTest, WithoutASearchEveryKernelIsExact) {
    CompileOptions options;
    options.tolerance = Tolerance::relative(1);
    options.disable = {"search"};
    EXPECT_EQ(inexact_products(compiled(chain(2), options)), 0);
}

TEST_F(OutputToleranceTest, AnUnknownOutputIsRefused) {
    const auto refusal = [&](std::vector<OutputTolerance> own) -> std::string {
        CompileOptions options;
        options.output_tolerances = std::move(own);
        try {
            compiled(chain(1), options);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::argument);
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal({{"y0", Tolerance::exact()}}), "");
    EXPECT_EQ(refusal({{"z", Tolerance::exact()}}), "[tolerance] there is no output called \"z\"");
    EXPECT_EQ(refusal({{"y0", Tolerance::exact()}, {"y0", Tolerance::relative(1)}}),
              "[tolerance] output \"y0\" has two");
}

// The law that an exact tolerance admits for norms before weights, in its worst case: n g and r nearly cancel. Each sum
// of terms is within its bound in both expressions.
TEST_F(OutputToleranceTest, ADistributedFactorKeepsTheBoundOfItsTerms) {
    constexpr double eps = 0x1p-24;
    Graph graph("g");
    const Dim n = graph.symbol("N", 1, 32);
    const Tensor x = graph.input("x", DType::f32, {n, features});
    const Tensor gamma = graph.weight("gamma", DType::f32, {features}),
                 beta = graph.weight("beta", DType::f32, {features});
    const Tensor w = graph.weight("w", DType::f32, {features, features});
    graph.output("y", matmul(x * gamma + beta, w));
    const std::vector<double> g = numbers(features, 1, 2), r = numbers(features, 2, 2),
                              noise = numbers(4 * features, 3, 1e-4);
    std::vector<float> xs(4 * features), gs(g.begin(), g.end()), rs(r.begin(), r.end()), ws;
    for (const double value : numbers(features * features, 4, 1)) ws.push_back(static_cast<float>(value));
    for (std::size_t i = 0; i < xs.size(); ++i)
        xs[i] = static_cast<float>(-r[i % features] / g[i % features] * (1 + noise[i]));
    for (const bool expand : {true, false}) {
        CompileOptions options;
        if (!expand) options.disable = {"expand"};
        CompiledGraph found = compiled(graph, options);
        found.bind([&](std::string_view name) {
            InputView view;
            view.data = name == "w" ? ws.data() : name == "gamma" ? gs.data() : rs.data();
            view.shape =
                name == "w" ? std::vector<std::int64_t>{features, features} : std::vector<std::int64_t>{features};
            return view;
        });
        found.set("x", xs.data(), {4, features});
        found.run();
        const auto y = found.output("y").as<float>();
        for (std::size_t row = 0; row < 4; ++row)
            for (std::size_t c = 0; c < features; ++c) {
                double right = 0, terms = 0;
                for (std::size_t k = 0; k < features; ++k) {
                    const double first = double{xs[row * features + k]} * gs[k] * ws[k * features + c];
                    const double second = double{rs[k]} * ws[k * features + c];
                    right += first + second;
                    terms += std::fabs(first) + std::fabs(second);
                }
                ASSERT_LE(std::fabs(y[row * features + c] - right), (2 * features + 16) * eps * terms) << expand;
            }
    }
}

}  // namespace
}  // namespace cairn
