#include "driver/tuning_curve.hpp"

#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

namespace cairn {
namespace {

Graph products(int count, std::int64_t width) {
    Graph g("products");
    const Dim n = g.symbol("N", 1, 64);
    Tensor x = g.input("x", DType::f32, {n, width});
    for (int i = 0; i < count; ++i)
        x = softmax(matmul(x, g.weight("w" + std::to_string(i), DType::f32, {width, width})));
    g.output("y", x);
    return g;
}

TEST(TuningCurve, IsReportedByTheTuneAndByLaterCompiles) {
    const auto path = std::filesystem::path(CAIRN_BINARY_DIR) / "tuning_curve_test.db";
    const Graph graph = products(2, 48);
    for (const Mode mode : {Mode::quick, Mode::normal, Mode::exhaustive}) {
        std::filesystem::remove(path);
        ContextOptions options;
        options.threads = 1;
        options.timing_db = path;
        const auto tuning = [&](Mode with) {
            return compile(graph, Context(options), {.mode = with, .tune_seconds = 20, .run_program_trials = false})
                .explain()
                .tuning;
        };
        EXPECT_TRUE(tuning(Mode::cached).empty()) << "it was never tuned";
        const std::vector<TuningPoint> now = tuning(mode);
        ASSERT_GE(now.size(), 3U);
        EXPECT_EQ(now.front().measured, 0);
        EXPECT_GT(now.back().measured, 0);
        EXPECT_GT(now.back().expected, 0);
        for (std::size_t i = 1; i < now.size(); ++i) {
            EXPECT_GE(now[i].seconds, now[i - 1].seconds);
            EXPECT_GE(now[i].measured, now[i - 1].measured);
        }
        EXPECT_EQ(tuning(Mode::cached), now) << "from the database";
        EXPECT_EQ(tuning(mode), now) << "it measures nothing more";
        EXPECT_TRUE(tuning(Mode::off).empty());
        EXPECT_TRUE(compile(products(3, 48), Context(options), {.mode = Mode::cached}).explain().tuning.empty());
    }
}

TEST(TuningCurve, EndsAtTheTimeOfTheSelectedProgram) {
    const CompiledGraph compiled = compile(products(2, 48), Context(ContextOptions{.threads = 1}),
                                           {.mode = Mode::normal, .tune_seconds = 20, .run_program_trials = false});
    const Explanation why = compiled.explain();
    double seconds = 0;
    for (const ExplainedBucket& bucket : why.buckets) seconds += bucket.seconds;
    ASSERT_FALSE(why.tuning.empty());
    EXPECT_NEAR(why.tuning.back().expected, seconds, 1e-9 * seconds);
}

TEST(TuningRun, EndsSoonAfterAStop) {
    // Allows for a busy machine.
    constexpr double generous_seconds = 5;
    const Graph graph = products(4, 512);
    for (const int wait : {20, 150, 600})
        for (const Mode mode : {Mode::quick, Mode::exhaustive}) {
            std::stop_source source;
            using Clock = std::chrono::steady_clock;
            Clock::time_point requested;
            std::jthread stopper([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(wait));
                requested = Clock::now();
                source.request_stop();
            });
            bool cancelled = false;
            try {
                compile(graph, Context(ContextOptions{.threads = 1}),
                        {.mode = mode, .tune_seconds = 600, .stop = source.get_token()});
            } catch (const Cancelled&) { cancelled = true; }
            const Clock::time_point ended = Clock::now();
            stopper.join();
            if (!cancelled) continue;  // it ended before the stop
            const double seconds = std::chrono::duration<double>(ended - requested).count();
            std::printf("mode %d, asked after %d ms: ended %.1f ms later\n", static_cast<int>(mode), wait,
                        1e3 * seconds);
            EXPECT_LT(seconds, generous_seconds);
        }
}

TEST(TuningRun, SpendsItsBudgetOnMeasurementsOnly) {
    // A calibration, and trials of kernels of some milliseconds.
    const Graph graph = products(4, 256);
    for (const double budget : {0.1, 0.3, 1.0}) {
        const Context context(ContextOptions{.threads = 1});
        const Explanation why = compile(graph, context, {.mode = Mode::exhaustive, .tune_seconds = budget}).explain();
        ASSERT_FALSE(why.tuning.empty()) << "a short budget measures, however long stages take";
        EXPECT_GT(why.tuning.back().measured, 0);
        EXPECT_LT(why.tuning.back().seconds, budget + 5) << "on a busy machine";
    }
}

}  // namespace
}  // namespace cairn
