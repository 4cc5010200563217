#include "cairn/cairn.hpp"
#include "tests/driver/relative_distance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// Weights of floats that are quantized when they are bound, within a tolerance.
namespace cairn::test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t words = 640, width = 256, hidden = 512;

/// A table that is the embedding and, transposed, the output projection, and two layers between.
Graph tied_model() {
    Graph g("tied");
    const Dim n = g.symbol("N", 1, 64);
    const Tensor ids = g.input("ids", DType::i32, {n}), table = g.weight("table", DType::f32, {words, width});
    Tensor x = embedding(table, ids);
    for (const std::string layer : {"0", "1"}) {
        const Tensor up = linear(x, g.weight(layer + ".up", DType::f32, {width, hidden}));
        x = x + linear(gelu(up), g.weight(layer + ".down", DType::f32, {hidden, width}));
    }
    g.output("logits", matmul(x, transpose(table, {1, 0})));
    return g;
}

/// Normal weights; an outlier takes the place of one element of each matrix.
WeightSource weights(std::optional<float> outlier = {}) {
    return [outlier](std::string_view name) {
        const std::int64_t rows = name == "table"        ? words
                                  : name.ends_with("up") ? width
                                                         : hidden,
                           columns = name.ends_with("up") ? hidden : width;
        auto elements = std::make_unique<std::vector<float>>(static_cast<std::size_t>(rows * columns));
        std::mt19937 random(static_cast<unsigned>(name.size() * 31 + static_cast<unsigned char>(name.front())));
        std::normal_distribution<float> normal(0, 0.05F);
        for (float& element : *elements) element = normal(random);
        if (outlier) (*elements)[static_cast<std::size_t>(3 * columns + 5)] = *outlier;
        InputView view{elements->data(), DType::f32, {rows, columns}};
        view.owner = elements.release();
        view.release = [](void* owner) { delete static_cast<std::vector<float>*>(owner); };
        return view;
    };
}

class QuantizedAtBind : public testing::Test {
protected:
    CompiledGraph compiled(const Graph& graph, Tolerance tolerance, bool verify = true) const {
        CompileOptions options;
        options.tolerance = tolerance;
        options.verify = verify;
        return compile(graph, context, options);
    }
    static std::size_t count(const CompiledGraph& model, std::string_view text) {
        const std::string program = model.program();
        std::size_t found = 0;
        for (std::size_t at = program.find(text); at != program.npos; at = program.find(text, at + 1)) ++found;
        return found;
    }
    static bool is_quantized(const CompiledGraph& model) { return count(model, "cpu.panel.pack_q") > 0; }
    static double kept_bytes(const CompiledGraph& model) {
        return static_cast<double>(model.memory().weights + model.memory().bound);
    }
    static std::vector<float> logits_of(CompiledGraph& model, std::int64_t n) {
        std::vector<std::int32_t> ids;
        for (std::int64_t i = 0; i < n; ++i) ids.push_back(static_cast<std::int32_t>(i * 37 % words));
        model.set("ids", ids, {n});
        model.run();
        const auto logits = model.output("logits").as<float>();
        return {logits.begin(), logits.end()};
    }

    const Context context;
};

TEST_F(QuantizedAtBind, TakeHalfOrAQuarterOfTheMemoryWithinTheTolerance) {
    CompiledGraph exact = compiled(tied_model(), Tolerance::exact());
    exact.bind(weights());
    EXPECT_FALSE(is_quantized(exact));
    const std::vector<float> wanted = logits_of(exact, 9);
    double bytes = kept_bytes(exact);
    for (const double tolerance : {1e-3, 0.1}) {
        CompiledGraph model = compiled(tied_model(), Tolerance::relative(tolerance));
        model.bind(weights());
        EXPECT_EQ(count(model, "cpu.panel.pack_q16b"), tolerance < 0.01 ? 5U : 0U);
        EXPECT_EQ(count(model, "cpu.panel.pack_q8b"), tolerance < 0.01 ? 0U : 5U);
        EXPECT_LT(relative_distance(logits_of(model, 9), wanted), tolerance);
        EXPECT_GT(relative_distance(logits_of(model, 9), wanted), 0);
        const ExplainedError error = model.explain().buckets.at(0).errors.at(0);
        EXPECT_TRUE(error.verified);
        EXPECT_FALSE(model.explain().buckets[0].fell_back);
        EXPECT_LE(error.error, tolerance);
        EXPECT_THAT(to_string(model.explain()), HasSubstr("5 quantized once, within the tolerance"));
        EXPECT_LT(kept_bytes(model), 0.6 * bytes);
        bytes = kept_bytes(model);
    }
}

// Each weight that is quantized takes a part of the budget, at most once.
TEST_F(QuantizedAtBind, EachErrorCountsOnce) {
    constexpr double each = 0x1p-6;
    const auto is_all = [&](double tolerance) {
        return count(compiled(tied_model(), Tolerance::relative(tolerance)), "cpu.panel.pack_q8b") == 5;
    };
    // The table is read by the embedding and by the output projection.
    EXPECT_TRUE(is_all(std::sqrt(5) * each + 1e-3));
    EXPECT_FALSE(is_all(std::sqrt(5) * each - 1e-3));
}

TEST_F(QuantizedAtBind, SavedProgramsQuantizeAlike) {
    const auto file = std::filesystem::path(CAIRN_BINARY_DIR) / "quantized_at_bind";
    CompiledGraph saved = compiled(tied_model(), Tolerance::relative(0.1));
    saved.bind(weights());
    saved.save(file);
    CompiledGraph loaded = CompiledGraph::load(file, context);
    loaded.bind(weights());
    EXPECT_TRUE(is_quantized(loaded));
    EXPECT_EQ(logits_of(loaded, 5), logits_of(saved, 5));
}

TEST_F(QuantizedAtBind, OtherMatricesAreKept) {
    const auto product_with = [&](DType dtype, std::int64_t depth, std::int64_t columns) {
        Graph g("g");
        const Tensor x = g.input("x", DType::f32, {3, depth});
        g.output("y", matmul(x, cast(g.weight("w", dtype, {depth, columns}), DType::f32)));
        return is_quantized(compiled(g, Tolerance::relative(0.1)));
    };
    EXPECT_TRUE(product_with(DType::f32, 512, 512));
    EXPECT_FALSE(product_with(DType::f32, 511, 513)) << "groups are of 32 steps";
    EXPECT_FALSE(product_with(DType::f32, 32, 32)) << "small";
    Graph g("g");
    g.output("y", g.input("x", DType::f32, {512, 512}) + g.weight("w", DType::f32, {512, 512}));
    EXPECT_FALSE(is_quantized(compiled(g, Tolerance::relative(0.1)))) << "no product";
}

// Where a weight takes the rest of its group with it, the first run finds it.
TEST_F(QuantizedAtBind, OutliersAreWithinTheToleranceOrExact) {
    for (const float outlier : {1e4F, 3e38F, std::numeric_limits<float>::infinity()}) {
        CompiledGraph exact = compiled(tied_model(), Tolerance::exact()),
                      model = compiled(tied_model(), Tolerance::relative(0.1));
        exact.bind(weights(outlier));
        model.bind(weights(outlier));
        std::vector<float> wanted = logits_of(exact, 9), found = logits_of(model, 9);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            ASSERT_EQ(std::isnan(found[i]), std::isnan(wanted[i])) << i;
            if (std::isfinite(wanted[i])) continue;
            ASSERT_FALSE(std::isfinite(found[i])) << i;
            found[i] = wanted[i] = 0;
        }
        const double largest = std::fabs(*std::ranges::max_element(wanted, {}, [](float x) { return std::fabs(x); }));
        for (std::vector<float>* logits : {&found, &wanted})
            for (float& logit : *logits) logit = largest > 0 ? static_cast<float>(logit / largest) : logit;
        const double most = model.explain().buckets[0].fell_back ? 1e-5 : 0.1;
        if (largest > 0) { EXPECT_LT(relative_distance(found, wanted), most) << outlier; }
    }
}

}  // namespace
}  // namespace cairn::test
