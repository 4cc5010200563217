#include "autotune/measurement/clock.hpp"
#include "cairn/kernels.hpp"
#include "cairn/tuning.hpp"
#include "graph/types/knobs.hpp"
#include "tests/autotune/database/problem.hpp"
#include "tests/errors/message.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>

namespace cairn {
namespace {

using test::problem;

using test::message;

TEST(Measure, ReturnsAPlausibleSummary) {
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
        if (!context.features().includes(kernel.needs) || kernel.samples.empty()) continue;
        auto symbols = Symbols::create();
        const Problem measure_candidate = parse_problem(kernel.samples[0], *symbols);
        std::vector<std::int64_t> sizes;
        for (const Symbols::Symbol& symbol : symbols->list())
            sizes.push_back(std::min<std::int64_t>(symbol.high, std::max<std::int64_t>(symbol.low, 3)));
        const Problem sized = at_sizes(measure_candidate, sizes);
        if (has_setting_suffix(kernel.id) && !kernel.accepts(sized).empty()) continue;
        EXPECT_GT(measure(sized, kernel.id, context, {.blocks = 1, .max_seconds = 2}).median, 0) << kernel.id;
        ++measured;
    }
    EXPECT_GT(measured, 50);
}

TEST(Measure, RefusesWhatItCannotMeasure) {
    const Context context({.features = levels::baseline});
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

TEST(Measure, AnExceptionOfAKernelIsAnErrorThatNamesTheKernel) {
    Kernel kernel;
    kernel.id = "my.exp@1";
    kernel.definition = "exp";
    const auto measured = [&] {
        std::string text;
        for (const int threads : {1, 3}) {
            ContextOptions options;
            options.threads = threads;
            options.extra.kernels = {kernel};
            const Context context(options);
            text = message([&] { measure(problem("exp | f32[4] -> f32[4]"), kernel.id, context); });
            measure(problem("exp | f32[4] -> f32[4]"), "cpu.reference.exp@1", context, {.blocks = 1});
        }
        return text;
    };
    kernel.accepts = [](const Problem&) -> Refusal { return {}; };
    kernel.run = [](const Args&, Team& team) {
        if (team.rank() == team.size() - 1) throw std::runtime_error("boom");
        team.barrier();
    };
    EXPECT_EQ(measured(), "[measure] my.exp@1: boom");
    kernel.run = [](const Args&, Team&) { throw 1; };
    EXPECT_EQ(measured(), "[measure] my.exp@1: threw an exception that is not a std::exception");
    kernel.run = [](const Args&, Team& team) { team.fail("no"); };
    EXPECT_EQ(measured(), "[measure] my.exp@1: no");
    kernel.prepare = [](const Problem&, int) -> std::shared_ptr<const void> { throw std::bad_alloc(); };
    EXPECT_EQ(measured(), "[measure] my.exp@1: out of memory");
    kernel.accepts = [](const Problem&) -> Refusal { throw std::runtime_error("broken"); };
    EXPECT_EQ(measured(), "[measure] my.exp@1: broken");
}

}  // namespace
}  // namespace cairn
