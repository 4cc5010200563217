#include "driver/state_storage.hpp"

#include "cairn/cairn.hpp"
#include "tests/driver/heap_counter.hpp"
#include "tests/driver/relative_distance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace cairn {
namespace {

constexpr std::int64_t heads = 2, depth = 64, capacity = 2048;

/// Attention over a cache: reading the states is most of the work.
Graph cached_attention() {
    Graph g("cached");
    const Dim past = g.symbol("P", 0, capacity - 1), t = g.symbol("T", 1, 8);
    State keys = g.state("keys", DType::f32, {1, heads, past, depth}, 2, capacity),
          values = g.state("values", DType::f32, {1, heads, past, depth}, 2, capacity);
    const Tensor x = g.input("x", DType::f32, {1, heads, t, depth});
    g.output("y", attention(x, keys.append(x * 0.5F), values.append(x + 1.0F), {.causal = true}));
    return g;
}

std::vector<float> values_of(const OutputView& view) {
    const auto elements = view.as<float>();
    return {elements.begin(), elements.end()};
}

std::filesystem::path file_of(const std::string& name) {
    return std::filesystem::path(CAIRN_BINARY_DIR) / ("state_storage_" + name);
}

class StateStorage : public testing::Test {
protected:
    CompiledGraph compiled(Tolerance tolerance, std::vector<Split> splits = {}) const {
        CompileOptions options;
        options.tolerance = tolerance;
        options.splits = std::move(splits);
        options.verify = true;
        return compile(cached_attention(), context, options);
    }
    CompiledGraph narrow(std::vector<Split> splits = {}) const {
        return compiled(Tolerance::relative(2e-3), std::move(splits));
    }
    static bool is_narrow(const CompiledGraph& model) { return model.program().find(" f16[") != std::string::npos; }
    /// Runs all models on the same rows; returns the results of each.
    std::vector<std::vector<float>> run(std::vector<CompiledGraph*> models, std::int64_t rows, float scale = 1) {
        std::normal_distribution<float> normal;
        std::vector<float> x(static_cast<std::size_t>(heads * rows * depth));
        for (float& value : x) value = normal(random) * scale;
        std::vector<std::vector<float>> results;
        for (CompiledGraph* model : models) {
            model->set("x", x, {1, heads, rows, depth});
            model->run();
            results.push_back(values_of(model->output("y")));
        }
        return results;
    }

    const Context context;
    std::mt19937 random{1};
};

TEST_F(StateStorage, NarrowsTheStatesThatTheTolerancesPermit) {
    const Graph graph = cached_attention();
    const auto dtypes = [&](const CompileOptions& options) {
        std::vector<DType> found;
        for (const driver::StoredStates& stored : driver::narrower_states(graph, options))
            found.push_back(stored.dtype);
        return found;
    };
    using DTypes = std::vector<DType>;
    EXPECT_EQ(dtypes({}), DTypes{});
    // Both states are rounded: sqrt(2) 2^-11 is 6.9e-4, sqrt(2) 2^-8 is 5.5e-3.
    EXPECT_EQ(dtypes({.tolerance = Tolerance::relative(6.8e-4)}), DTypes{});
    EXPECT_EQ(dtypes({.tolerance = Tolerance::relative(7e-4)}), DTypes{DType::f16});
    EXPECT_EQ(dtypes({.tolerance = Tolerance::relative(5.6e-3)}), (DTypes{DType::f16, DType::bf16}));
    CompileOptions options;
    options.tolerance = Tolerance::relative(1e-2);
    options.output_tolerances = {{"y", Tolerance::exact()}};
    EXPECT_EQ(dtypes(options), DTypes{}) << "y is made of them";
    options.output_tolerances.clear();
    options.memory_limit = 1 << 30;
    EXPECT_EQ(dtypes(options), DTypes{});
}

TEST_F(StateStorage, IsNarrowerIfFasterAndWithinTolerance) {
    CompiledGraph exact = compiled(Tolerance::exact()), tight = compiled(Tolerance::relative(1e-4)), model = narrow();
    EXPECT_FALSE(is_narrow(exact));
    EXPECT_FALSE(is_narrow(tight));
    ASSERT_TRUE(is_narrow(model));
    EXPECT_EQ(exact.memory().states, 2 * heads * capacity * depth * 4);
    EXPECT_EQ(model.memory().states, exact.memory().states / 2);
    EXPECT_GE(model.memory().verification, exact.memory().states) << "to be compared with the declared ones";
    for (const std::int64_t rows : {8, 1, 1, 7, 8, 1}) {
        const auto y = run({&exact, &model}, rows);
        EXPECT_GT(test::relative_distance(y[1], y[0]), 1e-6) << "the states are rounded";
        EXPECT_LT(test::relative_distance(y[1], y[0]), 1e-3);
    }
    const ExplainedError output = model.explain().buckets.at(0).errors.at(0);
    EXPECT_DOUBLE_EQ(output.error, std::sqrt(2) * 0x1p-11);
    EXPECT_EQ(output.tolerance, 2e-3);
    std::vector<std::string> verified_values;
    for (const VerifiedError& row : model.verified_errors()) {
        verified_values.push_back(row.value);
        EXPECT_FALSE(row.fell_back);
        ASSERT_TRUE(row.verified);
        EXPECT_GT(row.error, 0);
        EXPECT_LT(row.error, row.expected);
        EXPECT_EQ(row.allowed, 2e-3);
    }
    EXPECT_EQ(verified_values, (std::vector<std::string>{"output \"y\"", "state \"keys\"", "state \"values\""}));
}

// Keys and values have another shape than the operands of attention, and fewer groups than heads.
TEST_F(StateStorage, IsNarrowerBehindViews) {
    Graph g("views");
    const Dim past = g.symbol("P", 0, capacity - 1), t = g.symbol("T", 1, 8);
    State keys = g.state("keys", DType::f32, {past, heads * depth}, 0, capacity),
          values = g.state("values", DType::f32, {heads, past, depth}, 1, capacity);
    const Tensor x = g.input("x", DType::f32, {1, 2 * heads, t, depth}),
                 k = g.input("k", DType::f32, {t, heads * depth}), v = g.input("v", DType::f32, {heads, t, depth});
    const Tensor all = keys.append(k);
    const Tensor by_head = transpose(reshape(all, {all.dim(0), heads, depth}), {1, 0, 2});
    g.output("y", attention(x, unsqueeze(by_head, 0), unsqueeze(values.append(v), 0), {.causal = true}));
    CompileOptions options;
    options.verify = true;
    CompiledGraph exact = compile(g, context, options);
    options.tolerance = Tolerance::relative(2e-3);
    CompiledGraph model = compile(g, context, options);
    ASSERT_TRUE(is_narrow(model));
    EXPECT_EQ(model.program().find("cast dtype=(1)"), std::string::npos) << "read as they are stored";
    std::normal_distribution<float> normal;
    for (const std::int64_t rows : {5, 1, 8}) {
        std::vector<std::vector<float>> results;
        std::vector<float> data(static_cast<std::size_t>(2 * heads * rows * depth));
        for (float& value : data) value = normal(random);
        for (CompiledGraph* each : {&exact, &model}) {
            each->set("x", data, {1, 2 * heads, rows, depth});
            each->set("k", data.data(), {rows, heads * depth});
            each->set("v", data.data() + 7, {heads, rows, depth});
            each->run();
            results.push_back(values_of(each->output("y")));
        }
        EXPECT_LT(test::relative_distance(results[1], results[0]), 1e-3);
    }
}

TEST_F(StateStorage, IsConvertedToTheDeclaredDtypeForUsers) {
    CompiledGraph exact = compiled(Tolerance::exact()), model = narrow();
    run({&exact, &model}, 8);
    const OutputView keys = model.state("keys");
    EXPECT_EQ(keys.dtype, DType::f32);
    EXPECT_EQ(std::vector<std::int64_t>(keys.shape.begin(), keys.shape.end()),
              (std::vector<std::int64_t>{1, heads, 8, depth}));
    const std::vector<float> own = values_of(keys), wanted = values_of(exact.state("keys"));
    for (std::size_t i = 0; i < own.size(); ++i) EXPECT_NEAR(own[i], wanted[i], 0x1p-11 * std::abs(wanted[i]) + 1e-7);
    EXPECT_NE(own, wanted);

    // States saved by one graph can be loaded by the other, in both directions.
    const auto path = file_of("states.safetensors");
    exact.save_states(path);
    CompiledGraph filled = model.instance();
    filled.load_states(path);
    EXPECT_EQ(values_of(filled.state("keys")), own);
    filled.save_states(path);
    CompiledGraph widened = exact.instance();
    widened.load_states(path);
    EXPECT_EQ(values_of(widened.state("keys")), own);
    const auto y = run({&exact, &filled, &model}, 3);
    EXPECT_LT(test::relative_distance(y[1], y[0]), 1e-3);
    EXPECT_EQ(y[1], y[2]);
    std::filesystem::remove(path);

    std::vector<float> given(heads * 2 * depth, 0.1F);
    model.reset_states();
    model.set_state("keys", given);
    EXPECT_NEAR(values_of(model.state("keys"))[0], 0.1F, 0x1p-11 * 0.1);
    model.rewind("P", 1);
    EXPECT_EQ(model.state("keys").shape[2], 1);
}

TEST_F(StateStorage, OfASavedProgramIsUnchanged) {
    CompiledGraph model = narrow({{"T", {1}}});
    const auto path = file_of("program.cairn");
    model.save(path);
    CompiledGraph loaded = CompiledGraph::load(path, context);
    EXPECT_EQ(loaded.program(), model.program());
    for (const std::int64_t rows : {5, 1, 1}) {
        const auto y = run({&model, &loaded}, rows);
        EXPECT_EQ(y[0], y[1]);
    }
    EXPECT_EQ(loaded.verified_errors().size(), 6U);
    std::filesystem::remove(path);
}

// Numbers that f16 cannot represent.
TEST_F(StateStorage, OfAllBucketsFallsBackTogetherAndKeepsContents) {
    CompiledGraph exact = compiled(Tolerance::exact(), {{"T", {1}}}), model = narrow({{"T", {1}}}),
                  other = model.instance(), exact_other = exact.instance();
    ASSERT_TRUE(is_narrow(model));
    for (const std::int64_t rows : {7, 1}) {
        run({&exact, &model}, rows);
        run({&exact_other, &other}, rows);
    }
    for (const VerifiedError& row : model.verified_errors()) EXPECT_TRUE(row.verified && !row.fell_back) << row.value;

    // Both buckets were within tolerance. In a new graph one of them is, and the other is not.
    CompiledGraph fresh = narrow({{"T", {1}}}), beside = fresh.instance(), exact_beside = exact.instance();
    exact.reset_states();
    exact_beside.reset_states();
    run({&exact, &fresh}, 4);
    run({&exact_beside, &beside}, 4);
    const std::vector<float> before = values_of(exact.state("values")), rounded = values_of(fresh.state("values"));
    const auto y = run({&exact, &fresh}, 1, 1e6F);
    EXPECT_LT(test::relative_distance(y[1], y[0]), 1e-6) << "the exact program's result";
    EXPECT_FALSE(is_narrow(fresh));
    for (const VerifiedError& row : fresh.verified_errors()) EXPECT_TRUE(row.fell_back) << row.value;
    EXPECT_EQ(fresh.memory().states, exact.memory().states);
    const std::vector<float> after = values_of(fresh.state("values")), wanted = values_of(exact.state("values"));
    EXPECT_EQ(after.size(), wanted.size());
    EXPECT_LT(test::relative_distance(after, wanted), 1e-6) << "beyond f16";
    EXPECT_NE(before, rounded);
    // The other bucket, and another instance with states of its own.
    for (const std::int64_t rows : {3, 1, 2}) {
        const auto z = run({&exact, &fresh}, rows);
        EXPECT_LT(test::relative_distance(z[1], z[0]), 1e-5);
        const auto w = run({&exact_beside, &beside}, rows, 1e6F);
        EXPECT_LT(test::relative_distance(w[1], w[0]), 1e-3);
    }
    EXPECT_LT(test::relative_distance(values_of(beside.state("values")), values_of(exact_beside.state("values"))),
              1e-5);
    CompiledGraph late = fresh.instance(), exact_late = exact.instance();
    const auto v = run({&exact_late, &late}, 2, 1e6F);
    EXPECT_LT(test::relative_distance(v[1], v[0]), 1e-6);

    const auto path = file_of("fallen.cairn");
    fresh.save(path);
    EXPECT_FALSE(is_narrow(CompiledGraph::load(path, context)));
    std::filesystem::remove(path);
}

// The largest f16 is 65504.
TEST_F(StateStorage, FallsBackOnUnrepresentableValues) {
    for (const float value : {65504.0F, 1e5F, -1e9F, std::numeric_limits<float>::infinity(), 0.0F}) {
        CompiledGraph model = narrow(), exact = compiled(Tolerance::exact()), other = model.instance();
        run({&model, &exact, &other}, 3);
        std::vector<float> given(heads * 2 * depth, 0.5F);
        given[given.size() / 2 + 7] = value;
        for (CompiledGraph* each : {&model, &exact}) {
            each->set_state("values", given);
            EXPECT_EQ(values_of(each->state("values")), given) << value;
        }
        const bool is_beyond = std::isfinite(value) && std::abs(value) > 65504;
        EXPECT_EQ(is_narrow(model), !is_beyond) << value;
        EXPECT_EQ(model.verified_errors()[0].fell_back, is_beyond);
        if (std::isinf(value)) continue;
        const auto y = run({&exact, &model}, 2);
        EXPECT_LT(test::relative_distance(y[1], y[0]), is_beyond ? 1e-3 : 2e-3) << value;
        run({&other}, 1);
    }
}

// Even after many runs within tolerance.
TEST_F(StateStorage, RepeatsARunThatAppendsUnrepresentableValues) {
    CompiledGraph exact = compiled(Tolerance::exact(), {{"T", {1}}}), model = narrow({{"T", {1}}}),
                  other = model.instance(), exact_other = exact.instance();
    for (const std::int64_t rows : {7, 1, 1, 3}) {
        run({&exact, &model}, rows);
        run({&exact_other, &other}, rows);
    }
    for (const VerifiedError& row : model.verified_errors()) EXPECT_TRUE(row.verified && !row.fell_back);
    ASSERT_TRUE(is_narrow(model));
    const auto y = run({&exact, &model}, 2, 1e6F);
    EXPECT_LT(test::relative_distance(y[1], y[0]), 1e-6) << "on old rows as they were rounded";
    EXPECT_FALSE(is_narrow(model));
    for (const VerifiedError& row : model.verified_errors()) EXPECT_TRUE(row.fell_back);
    EXPECT_EQ(model.state("keys").shape[2], exact.state("keys").shape[2]);
    EXPECT_LT(test::relative_distance(values_of(model.state("keys")), values_of(exact.state("keys"))), 1e-3);
    // Rows appended by other instances from now on are not rounded.
    run({&exact_other, &other}, 1);
    const std::vector<float> keys = values_of(other.state("keys")), wanted = values_of(exact_other.state("keys"));
    ASSERT_EQ(keys.size(), wanted.size());
    EXPECT_NE(keys, wanted);
    EXPECT_TRUE(std::equal(keys.end() - depth, keys.end(), wanted.end() - depth));
    for (const std::int64_t rows : {1, 5}) {
        const auto z = run({&exact, &model}, rows), w = run({&exact_other, &other}, rows, 1e6F);
        EXPECT_LT(test::relative_distance(z[1], z[0]), 2e-3);
        EXPECT_LT(test::relative_distance(w[1], w[0]), 2e-3);
    }
}

TEST_F(StateStorage, ARunAllocatesNoMemory) {
    CompiledGraph model = narrow();
    const std::vector<float> x(heads * 4 * depth, 0.25F);
    model.set("x", x, {1, heads, 4, depth});
    model.run();
    model.run();
    ASSERT_TRUE(is_narrow(model));
    const test::HeapCounter steps(-1);
    for (int i = 0; i < 3; ++i) model.run();
    EXPECT_EQ(steps.allocated(), 0);
}

// Instances are verified on their own threads; the first one beyond tolerance decides for all.
TEST_F(StateStorage, OfInstancesFallsBackWhileOthersRun) {
    for (int round = 0; round < 10; ++round) {
        CompiledGraph model = narrow({{"T", {1}}});
        std::vector<CompiledGraph> instances;
        for (int i = 0; i < 4; ++i) instances.push_back(model.instance());
        std::vector<std::thread> threads;
        std::vector<int> faults(instances.size(), 0);
        for (std::size_t i = 0; i < instances.size(); ++i)
            threads.emplace_back([&, i] {
                CompiledGraph exact = compiled(Tolerance::exact());
                std::vector<float> x(heads * 2 * depth, 0.25F);
                // The bucket of two rows is within tolerance for the instance that runs it first, that of one row for
                // none.
                for (int step = 0; step < 6; ++step) {
                    const std::int64_t rows = step == 0 || step == 4 ? 2 : 1;
                    std::fill(x.begin(), x.end(), step == 1 ? 1e6F : 0.3F);
                    for (CompiledGraph* each : {&exact, &instances[i]}) {
                        each->set("x", std::span<const float>(x).first(static_cast<std::size_t>(heads * rows * depth)),
                                  {1, heads, rows, depth});
                        each->run();
                    }
                    const auto y = values_of(instances[i].output("y")), wanted = values_of(exact.output("y"));
                    faults[i] += test::relative_distance(y, wanted) < 2e-3 ? 0 : 1;
                }
            });
        for (std::thread& thread : threads) thread.join();
        for (const int fault : faults) EXPECT_EQ(fault, 0) << round;
        for (const VerifiedError& row : model.verified_errors()) EXPECT_TRUE(row.fell_back);
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace cairn
