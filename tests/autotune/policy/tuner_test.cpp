#include "autotune/measurement/fingerprint.hpp"
#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"
#include "tests/autotune/database/took.hpp"
#include "tests/autotune/policy/inexact_product.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cairn {
namespace {

Graph layer() {
    Graph g("layer");
    const Dim n = g.symbol("N", 1, 32);
    const Tensor x = g.input("x", DType::f32, {n, 64});
    g.output("y", softmax(linear(gelu(x), g.weight("w", DType::f32, {64, 32}))));
    return g;
}

int tune_steps(const Context& context, Mode mode, double seconds = 20) {
    int steps = 0;
    CompileOptions options;
    options.mode = mode;
    options.tune_seconds = seconds;
    options.progress = [&](const Progress& progress) { steps += progress.phase == "tune" && !progress.detail.empty(); };
    compile(layer(), context, options);
    return steps;
}

TEST(Tuner, ASecondStartMeasuresNothing) {
    const auto path = std::filesystem::path(CAIRN_BINARY_DIR) / "profile_test.db";
    std::filesystem::remove(path);
    ContextOptions options;
    options.timing_db = path;
    EXPECT_GT(tune_steps(Context(options), Mode::normal), 0);
    EXPECT_EQ(tune_steps(Context(options), Mode::normal), 0);
    EXPECT_EQ(tune_steps(Context(options), Mode::cached), 0);
    const std::string text = details(compile(layer(), Context(options), {.mode = Mode::cached}).explain());
    EXPECT_NE(text.find(" s measured"), std::string::npos);
    const CompiledGraph estimated = compile(layer(), Context(options), {.mode = Mode::off});
    EXPECT_EQ(details(estimated.explain()).find(" s measured"), std::string::npos);
}

TEST(Tuner, ReportsTheBestKnownTime) {
    std::vector<double> best;
    CompileOptions options;
    options.mode = Mode::normal;
    options.progress = [&](const Progress& progress) {
        const bool measures = progress.phase == "tune" && !progress.detail.empty();
        EXPECT_EQ(progress.best > 0, measures) << progress.phase;
        if (measures) best.push_back(progress.best);
    };
    compile(layer(), Context(), options);
    ASSERT_FALSE(best.empty());
    EXPECT_LT(best.back(), 1);
}

TEST(Tuner, NoBudgetMeansNoMeasurement) { EXPECT_EQ(tune_steps(Context(), Mode::normal, 0), 0); }

TEST(Tuner, AStopRequestKeepsMeasuredTimes) {
    const auto path = std::filesystem::path(CAIRN_BINARY_DIR) / "stopped_profile_test.db";
    std::filesystem::remove(path);
    {
        ContextOptions context_options;
        context_options.timing_db = path;
        std::stop_source source;
        CompileOptions options;
        options.mode = Mode::normal;
        options.tune_seconds = 600;  // the stop is requested long before
        options.stop = source.get_token();
        int steps = 0;
        options.progress = [&](const Progress& progress) {
            if (progress.phase == "tune" && !progress.detail.empty() && ++steps == 3) source.request_stop();
        };
        EXPECT_THROW(compile(layer(), Context(context_options), options), Cancelled);
    }
    ContextOptions again;
    again.timing_db = path;
    const Context context(again);
    EXPECT_GE(context.impl()->timings->size(), 2U) << "two races, of one at least";
}

/// Programs with one product, for which a given kernel is the fastest by the times in the database.
class TunerOfAProduct : public testing::Test {
protected:
    TunerOfAProduct() {
        path = std::filesystem::path(CAIRN_BINARY_DIR) /
               (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".db");
        std::filesystem::remove(path);
    }

    Context context(const Kernel& kernel) const {
        ContextOptions options;
        options.timing_db = path;
        options.extra.kernels = {kernel};
        return Context(options);
    }

    static Problem product(const std::string& layout = "", int columns = 32) {
        const auto symbols = Symbols::create();
        const std::string right = "f32[64," + std::to_string(columns) + "]";
        return parse_problem("matmul | f32[4,64] " + right + (layout.empty() ? "" : "@" + layout) + "! -> f32[4," +
                                 std::to_string(columns) + "]",
                             *symbols);
    }

    static void store_times(const Context& context, const Kernel& fastest) {
        Context::Impl& impl = *context.impl();
        for (const Kernel& kernel : context.kernels().kernels) {
            if (kernel.definition != "matmul") continue;
            const Timing timing = test::took(kernel.id == fastest.id ? 1e-9 : 1);
            const auto store = [&](const Problem& problem) {
                impl.timings->record(problem, kernel.id, autotune::environment_of(impl), {}, timing);
            };
            store(product());
            for (const LayoutInput& packed : kernel.packed_inputs) store(product(packed.layout));
        }
    }

    static CompiledGraph compiled(const Context& context, Mode mode, double tolerance, int columns = 32) {
        Graph g("product");
        g.output("y", matmul(g.input("x", DType::f32, {4, 64}), g.weight("w", DType::f32, {64, columns})));
        CompileOptions options;
        options.mode = mode;
        options.tune_seconds = 20;
        options.run_program_trials = false;  // real program times would contradict the invented ones
        if (tolerance > 0) options.tolerance = Tolerance::relative(tolerance);
        return compile(g, context, options);
    }

    static bool selects(const CompiledGraph& compiled, const Kernel& kernel) {
        return compiled.program().find(kernel.id) != std::string::npos;
    }
    static bool explains(const CompiledGraph& compiled, const std::string& words) {
        return details(compiled.explain()).find(words) != std::string::npos;
    }

    std::filesystem::path path;
};

TEST_F(TunerOfAProduct, AnErrorIsMeasuredWithTheTimeAndApplied) {
    const Kernel kernel = test::inexact_product();
    const Context context = this->context(kernel);
    store_times(context, kernel);
    const CompiledGraph before = compiled(context, Mode::cached, 6e-3);
    EXPECT_TRUE(selects(before, kernel) && explains(before, " s measured, error 0.005 stated")) << before.explain();
    EXPECT_FALSE(selects(compiled(context, Mode::cached, 4e-3), kernel)) << "less than the stated error";
    const std::size_t times = context.impl()->timings->size();
    const CompiledGraph after = compiled(context, Mode::normal, 6e-3);
    EXPECT_TRUE(selects(after, kernel)) << after.explain();
    EXPECT_LE(context.impl()->timings->size(), times + 1)
        << "all times of products were known, that of a packing was not";
    const auto figures =
        context.impl()->timings->find_error(product(), kernel.id, autotune::environment_of(*context.impl()));
    ASSERT_TRUE(figures);
    EXPECT_GT(figures->relative, 5e-4);
    EXPECT_LT(figures->counted(), 4e-3);
    EXPECT_TRUE(explains(after, " measured | matmul")) << after.explain();
    EXPECT_TRUE(selects(compiled(this->context(kernel), Mode::cached, 4e-3), kernel)) << "what was measured counts";
    EXPECT_FALSE(selects(compiled(this->context(kernel), Mode::cached, 0), kernel));
}

TEST_F(TunerOfAProduct, AKernelBeyondItsStatedErrorIsNotSelectedAgain) {
    const Kernel kernel = test::product_beyond_stated_error();
    const std::string reason = "refused: it states an error of 0.0001, but 0.00";
    {
        const Context context = this->context(kernel);
        store_times(context, kernel);
        EXPECT_TRUE(selects(compiled(context, Mode::cached, 1e-2), kernel)) << "it is believed at first";
        const CompiledGraph tuned = compiled(context, Mode::normal, 1e-2);
        EXPECT_FALSE(selects(tuned, kernel));
        EXPECT_TRUE(explains(tuned, reason)) << tuned.explain();
    }
    const Context context = this->context(kernel);
    const CompiledGraph later = compiled(context, Mode::cached, 1e-2),
                        wider = compiled(context, Mode::cached, 1e-2, 48);
    for (const CompiledGraph* one : {&later, &wider}) {
        EXPECT_FALSE(selects(*one, kernel));
        EXPECT_TRUE(explains(*one, reason)) << one->explain();
        EXPECT_TRUE(explains(*one, "on matmul | f32[4,64] f32[64,32]! -> f32[4,32]")) << one->explain();
    }
}

}  // namespace
}  // namespace cairn
