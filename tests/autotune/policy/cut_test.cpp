#include "autotune/measurement/splitmix.hpp"
#include "autotune/policy/tuner.hpp"
#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"
#include "tests/autotune/policy/fake_measurer.hpp"
#include "tests/autotune/policy/small_layers.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace cairn::autotune {
namespace {

using test::FakeMeasurer, test::FakeTuning;

struct Tuned {
    TuningResult profiled;
    double untuned = 0, tuned = 0, best = 0, spent = 0;  // seconds of runs, and of the tune
    double stored = 0;                                   // of runs, as the tuned program estimates them
    std::size_t rows = 0;
};

Tuned tuned(const Graph& graph, std::uint64_t seed, double seconds, Mode mode = Mode::normal) {
    const Context context;
    FakeTuning tuning(graph, context, {{"N", {1}}});
    FakeMeasurer measurer(tuning.costs, seed);
    Tuned result;
    result.untuned = tuning.seconds(tuning.untuned(), measurer);
    result.profiled = run_tuner(tuning.selected, context, tuning.costs, tuning.options,
                                {seconds, {}, {}, usual_hang_seconds, effort_of(mode)}, measurer.measurer());
    const selection::Selections chosen = tuning.choose();
    if (const auto& settled = result.profiled.chosen) {
        EXPECT_EQ(settled->path, chosen.path);
        EXPECT_EQ(settled->cost, chosen.cost);
    }
    result.tuned = tuning.seconds(chosen, measurer);
    for (std::size_t b = 0; b < tuning.selected.size(); ++b)
        result.stored += tuning.selected[b].weight * chosen.buckets[b].seconds;
    result.best = tuning.seconds(tuning.best(measurer), measurer);
    result.spent = measurer.now();
    result.rows = context.impl()->timings->size();
    return result;
}

TEST(TruncatedTuning, ATuneTruncatedAnywhereIsNeverWorseThanNone) {
    const Graph graph = test::small_layers();
    int gained = 0, cuts = 0;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        const Tuned whole = tuned(graph, seed, 1e6);
        EXPECT_TRUE(whole.profiled.complete && whole.profiled.chosen);
        EXPECT_LE(whole.tuned, whole.untuned);
        EXPECT_LE(whole.tuned, whole.best * 1.03) << "but for what is too close to tell";
        EXPECT_NEAR(whole.stored, whole.tuned, 1e-6 * whole.tuned) << "all of it was measured";
        for (int part = 0; part < 10; ++part, ++cuts) {
            const Tuned cut = tuned(graph, seed, whole.spent * part / 10);
            EXPECT_LE(cut.tuned, cut.untuned * (1 + 1e-9)) << "seed " << seed << ", cut at " << part << " of 10";
            EXPECT_GE(cut.tuned, whole.best * (1 - 1e-9));
            EXPECT_LE(cut.spent, whole.spent * part / 10 + 1.1);
            EXPECT_EQ(cut.profiled.complete, false);
            gained += cut.tuned < cut.untuned;
        }
        std::printf("seed %d: untuned %.3g s, tuned %.3g s by %zu times in %d measurements\n", static_cast<int>(seed),
                    whole.untuned, whole.tuned, whole.rows, whole.profiled.measured);
    }
    EXPECT_GE(gained, cuts / 2) << "what was measured is used";
}

TEST(TruncatedTuning, AnyModeTruncatedAnywhereIsNeverWorseThanNone) {
    const Graph graph = test::small_layers();
    std::uint64_t random = 1;
    for (const Mode mode : {Mode::quick, Mode::exhaustive}) {
        int gained = 0, incomplete = 0;
        for (std::uint64_t seed = 4; seed <= 5; ++seed) {
            const Tuned whole = tuned(graph, seed, 1e6, mode);
            EXPECT_TRUE(whole.profiled.complete);
            EXPECT_LE(whole.tuned, whole.untuned * (1 + 1e-9));
            for (int cut = 0; cut < 6; ++cut) {
                const double seconds = whole.spent * static_cast<double>(autotune::splitmix64(random) >> 11) * 0x1p-53;
                const Tuned part = tuned(graph, seed, seconds, mode);
                EXPECT_LE(part.tuned, part.untuned * (1 + 1e-9)) << "seed " << seed << ", " << seconds << " s";
                EXPECT_GE(part.tuned, whole.best * (1 - 1e-9));
                gained += part.tuned < part.untuned;
                incomplete += !part.profiled.complete;
            }
            if (mode == Mode::exhaustive) { EXPECT_LE(whole.tuned, whole.best * 1.03); }
        }
        EXPECT_GE(gained, 3);
        EXPECT_GE(incomplete, 8);
    }
}

TEST(TruncatedTuning, AContinuedTuneEndsLikeACompleteOne) {
    const Graph graph = test::small_layers();
    const Tuned whole = tuned(graph, 4, 1e6, Mode::exhaustive);
    const Context context;
    FakeTuning tuning(graph, context, {{"N", {1}}});
    FakeMeasurer measurer(tuning.costs, 4);
    int runs = 0;
    for (bool complete = false; !complete && runs < 100; ++runs)
        complete =
            run_tuner(tuning.selected, context, tuning.costs, tuning.options,
                      {whole.spent / 7, {}, {}, usual_hang_seconds, effort_of(Mode::exhaustive)}, measurer.measurer())
                .complete;
    EXPECT_GE(runs, 6);
    EXPECT_LE(runs, 20);
    EXPECT_LE(tuning.seconds(tuning.choose(), measurer), whole.tuned * 1.01);
    for (const auto& [name, times] : measurer.measured()) EXPECT_LE(times, 2) << name;
}

TEST(TruncatedTuning, NothingIsMeasuredAfterAStopRequest) {
    const Graph graph = test::small_layers();
    for (const Mode mode : {Mode::quick, Mode::normal, Mode::exhaustive})
        for (const int last : {0, 3}) {
            const Context context;
            FakeTuning tuning(graph, context, {{"N", {1}}});
            FakeMeasurer measurer(tuning.costs, 1);
            std::stop_source source;
            measurer.before_benchmark = [&](int benchmarks) {
                if (benchmarks == last) source.request_stop();
            };
            EXPECT_THROW(
                run_tuner(tuning.selected, context, tuning.costs, tuning.options,
                          {1e6, {}, source.get_token(), usual_hang_seconds, effort_of(mode)}, measurer.measurer()),
                Cancelled);
            EXPECT_EQ(measurer.benchmarks(), last);
            EXPECT_GE(context.impl()->timings->size(), static_cast<std::size_t>(last)) << "rows are kept";
        }
}

TEST(KernelThatDoesNotReturn, IsReportedAndCountsAsFailed) {
    std::mutex mutex;
    std::string messages;
    ContextOptions options;
    options.log = [&](LogLevel, std::string_view line) {
        const std::scoped_lock lock(mutex);
        messages += line;
    };
    Kernel sleepy;
    sleepy.id = "my.exp@1";
    sleepy.definition = "exp";
    sleepy.accepts = [](const Problem&) -> Refusal { return {}; };
    sleepy.cost = [](const Problem&) { return Cost{0, 1, 1}; };
    sleepy.run = [](const Args&, Team&) { std::this_thread::sleep_for(std::chrono::milliseconds(300)); };
    options.extra.kernels = {sleepy};
    const Context context(options);
    Graph g("exp");
    g.output("y", exp(g.input("x", DType::f32, {4})));
    FakeTuning tuning(g, context, {});
    const Measurer measurer = measurer_of(context);
    Budget budget{100, {}, {}, 0.05};
    std::optional<TimingStatus> meanwhile;
    const Measurer looking{
        [&](std::span<const autotune::BenchmarkCandidate> candidates, const autotune::BenchmarkOptions& given) {
            auto result = measurer.benchmark_candidates(candidates, given);
            for (const autotune::BenchmarkCandidate& each : candidates)
                if (each.kernel->id == sleepy.id)
                    if (const auto row = context.impl()->timings->find(*each.problem, sleepy.id,
                                                                       tuning.costs.environment, tuning.costs.policy))
                        meanwhile = row->status;
            return result;
        },
        measurer.now};
    run_tuner(tuning.selected, context, tuning.costs, tuning.options, budget, looking);
    const std::scoped_lock lock(mutex);
    EXPECT_NE(messages.find("tune: my.exp@1 did not return within 0.05 s on exp | f32[4] -> f32[4]"), std::string::npos)
        << messages;
    EXPECT_EQ(meanwhile, TimingStatus::failed) << "were the process ended now, the next would know";
}

}  // namespace
}  // namespace cairn::autotune
