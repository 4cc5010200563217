#include "cairn/kernels.hpp"
#include "cairn/tuning.hpp"
#include "timing/team_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace cairn {
namespace {

Problem problem(const std::string& text) {
    auto symbols = Symbols::create();
    return parse_problem(text, *symbols);
}

std::string message(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) { return error.what(); }
    return "nothing was thrown";
}

TEST(Measure, GivesAPlausibleSummary) {
    for (const int threads : {1, 2}) {
        const Context context({.threads = threads});
        const Timing timing =
            measure(problem("exp | f32[64,64] -> f32[64,64]"), "cpu.reference.exp@1", context, {.blocks = 7});
        EXPECT_EQ(timing.status, TimingStatus::ok);
        EXPECT_GE(timing.samples, 1);
        EXPECT_LE(timing.samples, 7);
        EXPECT_GT(timing.min, 0);
        EXPECT_LE(timing.min, timing.p10);
        EXPECT_LE(timing.p10, timing.median);
        EXPECT_LE(timing.median, timing.p90);
        EXPECT_GE(timing.inner, 1);
    }
}

TEST(Measure, EveryKernelsFirstSampleCanBeMeasured) {
    const Context context({.threads = 2});
    int measured = 0;
    for (const Kernel& kernel : context.kernels().kernels) {
        if (kernel.isa > context.isa() || kernel.samples.empty()) continue;
        auto symbols = Symbols::create();
        const Problem sample = parse_problem(kernel.samples[0], *symbols);
        std::vector<std::int64_t> sizes;
        for (const Symbols::Symbol& symbol : symbols->list())
            sizes.push_back(std::min<std::int64_t>(symbol.high, std::max<std::int64_t>(symbol.low, 3)));
        EXPECT_GT(measure(at_sizes(sample, sizes), kernel.id, context, {.blocks = 1, .max_seconds = 0.001}).median, 0)
            << kernel.id;
        ++measured;
    }
    EXPECT_GT(measured, 50);
}

TEST(Measure, RefusesWhatItCannotMeasure) {
    const Context context({.max_isa = Isa::baseline});
    EXPECT_EQ(message([&] { measure(problem("exp | f32[4] -> f32[4]"), "no.such@1", context); }),
              "[measure] there is no kernel no.such@1");
    auto symbols = Symbols::create();
    const Problem open = parse_problem("exp | f32[N] -> f32[N] where N in 1..4", *symbols);
    EXPECT_EQ(message([&] { measure(open, "cpu.reference.exp@1", context); }),
              "[measure] the problem has symbols: exp | f32[N] -> f32[N] where N in 1..4");
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(measure(problem("exp | f32[4] -> f32[4]"), "cpu.reference.exp@1", context, {.stop = stop.get_token()}),
                 Cancelled);
}

TEST(TeamClock, CountsWhatOthersDidBeforeAMemberCame) {
    timing::TeamClock clock(2);
    clock.start(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    clock.stop(1);
    clock.start(0);
    clock.stop(0);
    EXPECT_GE(clock.seconds(), 0.002);
}

}  // namespace
}  // namespace cairn
