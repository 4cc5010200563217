#include "autotune/policy/tuning_progress.hpp"

#include "autotune/policy/tuner.hpp"
#include "device/context_impl.hpp"
#include "graph/types/knobs.hpp"
#include "tests/autotune/database/took.hpp"
#include "tests/autotune/policy/fake_measurer.hpp"
#include "tests/autotune/policy/small_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace cairn::autotune {
namespace {

using test::FakeMeasurer, test::FakeTuning;

TEST(TuningProgress, EstimatesACallByTheBestEquivalentCall) {
    const Graph graph = test::small_layers();
    const Context context;
    FakeTuning tuning(graph, context, {});
    const selection::Selections plan = tuning.untuned();
    TuningProgress curve(tuning.selected, plan, tuning.costs);
    curve.note(0, 0);
    std::vector<TuningTask> all =
        unmeasured_tasks(tuning.selected, plan, tuning.costs, context.kernels().definitions, {});
    const auto several =
        std::find_if(all.begin(), all.end(), [](const TuningTask& each) { return each.calls.size() > 1; });
    ASSERT_NE(several, all.end());
    const auto store = [&](const CandidateCall& call, double seconds) {
        context.impl()->timings->record(call.problem, call.kernel->id, tuning.costs.environment, tuning.costs.policy,
                                        test::took(seconds));
        curve.learn(*several, tuning.costs);
    };
    curve.learn(*several, tuning.costs);
    curve.note(1, 0);
    store(several->calls[0], 5);
    curve.note(2, 1);
    store(several->calls[1], 2);
    curve.note(3, 2);
    store(several->calls[1], 2);
    curve.note(4, 3);
    const std::vector<TuningPoint> points = curve.end(5, 3);
    ASSERT_EQ(points.size(), 4U) << "nothing changed at 1 and at 4";
    EXPECT_GT(points[0].expected, 0);
    EXPECT_NEAR(points[1].expected - points[2].expected, 3 * several->runs, 1e-9 * points[1].expected);
    EXPECT_EQ(points[2].seconds, 3);
    EXPECT_EQ(points[2].measured, 2);
    EXPECT_EQ(points[3].seconds, 5);
    EXPECT_EQ(points[3].measured, 3);
}

/// The time of a plan if each of its calls took as long as the fastest call for the same value, at any setting.
double least_seconds(const FakeTuning& tuning, const selection::Selections& plan, FakeMeasurer& measurer) {
    double sum = 0;
    for (const TuningTask& task : unmeasured_tasks(tuning.selected, plan, tuning.costs, {}, {})) {
        double least = std::numeric_limits<double>::infinity();
        for (const CandidateCall& call : task.calls)
            for (const Kernel& setting : all_settings(*call.kernel))
                least = std::min(least, measurer.time_of(setting, call.problem));
        sum += task.runs * least;
    }
    return sum;
}

TEST(TuningProgress, RunsFromTheEstimateToTheMeasuredTime) {
    const Graph graph = test::small_layers();
    for (const Mode mode : {Mode::quick, Mode::normal, Mode::exhaustive}) {
        const Context context;
        FakeTuning tuning(graph, context, {{"N", {1}}});
        FakeMeasurer measurer(tuning.costs, 2);
        const selection::Selections plan = tuning.untuned();
        const double untuned = tuning.seconds(plan, measurer), least = least_seconds(tuning, plan, measurer);
        ASSERT_GT(least, untuned / 10);
        const TuningResult profiled =
            run_tuner(tuning.selected, context, tuning.costs, tuning.options,
                      {1e6, {}, {}, usual_hang_seconds, effort_of(mode)}, measurer.measurer());
        ASSERT_GT(profiled.curve.size(), 3U);
        EXPECT_EQ(profiled.curve.front().seconds, 0);
        EXPECT_EQ(profiled.curve.front().measured, 0);
        EXPECT_EQ(profiled.curve.back().measured, profiled.measured);
        EXPECT_NEAR(profiled.curve.back().seconds, measurer.now(), 1e-9);
        for (std::size_t i = 1; i < profiled.curve.size(); ++i) {
            EXPECT_GE(profiled.curve[i].seconds, profiled.curve[i - 1].seconds);
            EXPECT_GE(profiled.curve[i].measured, profiled.curve[i - 1].measured);
        }
        if (mode == Mode::quick) continue;
        EXPECT_LT(profiled.curve.back().expected, untuned) << "calls have been replaced";
        EXPECT_GE(profiled.curve.back().expected, least * (1 - 1e-9));
    }
}

TEST(TuningProgress, RoundTripsThroughText) {
    const std::vector<TuningPoint> points{{0, 1. / 3, 0}, {1e-5, 2e-7, 4}, {12.5, 1e300, 1000}};
    EXPECT_EQ(parse_points(to_string(points)), points);
    EXPECT_TRUE(parse_points("").empty());
    for (const char* text : {"1 2", "1 2 3", "1 2 x\n", "1 2 3\n4", "1  2 3\n", "1 2 3 \n"})
        EXPECT_TRUE(parse_points(text).empty()) << text;
}

}  // namespace
}  // namespace cairn::autotune
