#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

#include <filesystem>

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

TEST(Profile, ASecondStartMeasuresNothing) {
    const auto path = std::filesystem::path(CAIRN_BINARY_DIR) / "profile_test.db";
    std::filesystem::remove(path);
    ContextOptions options;
    options.timing_db = path;
    EXPECT_GT(tune_steps(Context(options), Mode::normal), 0);
    EXPECT_EQ(tune_steps(Context(options), Mode::normal), 0);
    EXPECT_EQ(tune_steps(Context(options), Mode::cached), 0);
    const std::string text = compile(layer(), Context(options), {.mode = Mode::cached}).explain();
    EXPECT_NE(text.find(" s measured"), std::string::npos);
    EXPECT_EQ(compile(layer(), Context(options), {.mode = Mode::off}).explain().find(" s measured"), std::string::npos);
}

TEST(Profile, NoBudgetMeansNoMeasurement) { EXPECT_EQ(tune_steps(Context(), Mode::normal, 0), 0); }

TEST(Profile, AStopKeepsWhatWasMeasured) {
    const auto path = std::filesystem::path(CAIRN_BINARY_DIR) / "stopped_profile_test.db";
    std::filesystem::remove(path);
    {
        ContextOptions context_options;
        context_options.timing_db = path;
        std::stop_source source;
        CompileOptions options;
        options.mode = Mode::normal;
        options.stop = source.get_token();
        int steps = 0;
        options.progress = [&](const Progress& progress) {
            if (progress.phase == "tune" && !progress.detail.empty() && ++steps == 3) source.request_stop();
        };
        EXPECT_THROW(compile(layer(), Context(context_options), options), Cancelled);
    }
    EXPECT_EQ(TimingDb(path).size(), 2U);
}

}  // namespace
}  // namespace cairn
