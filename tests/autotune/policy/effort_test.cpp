#include "autotune/policy/effort.hpp"

#include "autotune/policy/tuner.hpp"
#include "device/context_impl.hpp"
#include "tests/autotune/policy/fake_measurer.hpp"
#include "tests/autotune/policy/small_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cairn::autotune {
namespace {

using test::FakeMeasurer, test::FakeTuning;

/// Tunes of one graph with invented times, each starting with the database of the one before.
class EffortTest : public testing::Test {
protected:
    TuningResult tune(Mode mode, double seconds = 1e6) {
        FakeMeasurer measurer(tuning.costs, seed);
        measurer.disturb(longer, has_large_spread);
        const TuningResult profiled =
            run_tuner(tuning.selected, context, tuning.costs, tuning.options,
                      {seconds, {}, {}, usual_hang_seconds, effort_of(mode)}, measurer.measurer());
        measured.clear();
        for (const auto& [name, times] : measurer.measured()) {
            measured.insert(name);
            EXPECT_LE(times, 2) << name;
        }
        return profiled;
    }
    std::optional<Timing> timing_of(const std::string& name) const {
        const std::size_t space = name.find(' ');
        return context.impl()->timings->find(std::string_view(name).substr(space + 1), name.substr(0, space),
                                             tuning.costs.environment, tuning.costs.policy);
    }
    int quality_of(const std::string& name) const { return timing_of(name).value().quality; }
    /// Visits all calls that kernels accept for the matches, except copies that a reshape view replaces.
    template <typename F>
    void for_each_call(const F& visit) {
        for (const selection::Bucket& bucket : tuning.selected) {
            const auto sizes = selection::representative_sizes(*bucket.graph.symbols());
            for (std::size_t match = 0; match < bucket.matches.size(); ++match) {
                bucket.candidates.of_match(bucket.matches[match], static_cast<int>(match));
                for (const selection::KernelQuery* query : bucket.candidates.queries_for(static_cast<int>(match)))
                    query->for_each_answer([&](const Kernel& kernel, const selection::QueryResult& query_result) {
                        if (!query_result.refusal.empty() || kernel.definition == "reshape") return;
                        for (const selection::SizedProblem& problem :
                             selection::sized_problems_at(*query->problem(), sizes))
                            visit(kernel, problem);
                    });
            }
        }
    }

    const Graph graph = test::small_layers();
    const std::uint64_t seed = 3;
    Context context;
    FakeTuning tuning{graph, context, {{"N", {1}}}};
    double longer = 1;
    std::function<bool(const std::string&)> has_large_spread;
    std::set<std::string> measured;  // by the last tune
};

std::set<std::string> measured_from_nothing(Mode mode, const Graph& graph) {
    const Context context;
    FakeTuning tuning(graph, context, {{"N", {1}}});
    FakeMeasurer measurer(tuning.costs, 3);
    const Budget budget{1e6, {}, {}, usual_hang_seconds, effort_of(mode)};
    EXPECT_TRUE(
        run_tuner(tuning.selected, context, tuning.costs, tuning.options, budget, measurer.measurer()).complete);
    std::set<std::string> names;
    for (const auto& [name, times] : measurer.measured()) names.insert(name);
    return names;
}

TEST(EffortWithEmptyDatabase, EachModeMeasuresMoreThanThePreviousOne) {
    const Graph graph = test::small_layers();
    const std::set<std::string> quick = measured_from_nothing(Mode::quick, graph),
                                normal = measured_from_nothing(Mode::normal, graph),
                                exhaustive = measured_from_nothing(Mode::exhaustive, graph);
    EXPECT_FALSE(quick.empty());
    EXPECT_LT(quick.size(), normal.size());
    EXPECT_LT(normal.size(), exhaustive.size());
    EXPECT_TRUE(std::includes(normal.begin(), normal.end(), quick.begin(), quick.end()));
    EXPECT_TRUE(std::includes(exhaustive.begin(), exhaustive.end(), normal.begin(), normal.end()));
}

TEST_F(EffortTest, ExhaustiveMeasuresAllThatKernelsAccept) {
    tune(Mode::exhaustive);
    std::size_t calls = 0;
    for_each_call([&](const Kernel& kernel, const selection::SizedProblem& problem) {
        ++calls;
        EXPECT_TRUE(measured.contains(selection::call_key(kernel, problem))) << selection::call_key(kernel, problem);
    });
    EXPECT_GT(calls, 50U);
}

TEST_F(EffortTest, ASecondTuneOfAModeMeasuresNothing) {
    for (const Mode mode : {Mode::quick, Mode::normal, Mode::exhaustive}) {
        EXPECT_GT(tune(mode).measured, 0);
        const TuningResult again = tune(mode);
        EXPECT_EQ(again.measured, 0) << static_cast<int>(mode);
        EXPECT_TRUE(again.complete);
        EXPECT_EQ(again.failed, 0);
    }
    for (const Mode mode : {Mode::normal, Mode::quick}) EXPECT_EQ(tune(mode).measured, 0) << "it knows all of that";
}

TEST_F(EffortTest, NormalRepeatsOnlyCoarseTimes) {
    tune(Mode::quick);
    const std::set<std::string> coarse = measured;
    for (const std::string& name : coarse) EXPECT_EQ(quality_of(name), autotune::coarse_quality) << name;
    tune(Mode::normal);
    const std::set<std::string> better = measured;
    EXPECT_TRUE(std::any_of(better.begin(), better.end(), [&](const auto& name) { return coarse.contains(name); }));
    EXPECT_TRUE(std::any_of(better.begin(), better.end(), [&](const auto& name) { return !coarse.contains(name); }));
    for (const std::string& name : better) EXPECT_GT(quality_of(name), autotune::coarse_quality) << name;
    for (const selection::Selection& bucket : tuning.choose().buckets)
        for (const selection::Choice& choice : bucket.chosen) EXPECT_TRUE(choice.candidate.estimate.measured);
    tune(Mode::exhaustive);
    for (const std::string& name : measured) EXPECT_FALSE(better.contains(name)) << name;
    for (const std::string& name : coarse) EXPECT_GT(quality_of(name), autotune::coarse_quality) << name;
}

TEST_F(EffortTest, ACoarseTimeNeverReplacesABetterOne) {
    tune(Mode::normal);
    const std::string name = *measured.begin();
    for_each_call([&](const Kernel& kernel, const selection::SizedProblem& problem) {
        if (selection::call_key(kernel, problem) != name) return;
        TimingDb& timings = *context.impl()->timings;
        const auto find = [&] {
            return timings.find(problem.text(), kernel.id, tuning.costs.environment, tuning.costs.policy);
        };
        const double before = find()->median;
        Timing coarse = *find();
        coarse.quality = autotune::coarse_quality;
        coarse.samples = 1000;
        coarse.min = coarse.p10 = coarse.median = coarse.p90 = before / 10;
        timings.record(*problem, kernel.id, tuning.costs.environment, tuning.costs.policy, coarse);
        EXPECT_EQ(find()->median, before);
    });
    EXPECT_EQ(tune(Mode::quick).measured, 0);
}

TEST_F(EffortTest, TimesWithALargeSpreadAreConfirmedOnce) {
    longer = 1.5;
    std::string uneven;  // the fastest one: none of those known to be slow at once
    FakeMeasurer times(tuning.costs, seed);
    double least = std::numeric_limits<double>::infinity();
    for_each_call([&](const Kernel& kernel, const selection::SizedProblem& problem) {
        if (!problem.text().starts_with("softmax") || times.time_of(kernel, *problem) >= least) return;
        least = times.time_of(kernel, *problem);
        uneven = selection::call_key(kernel, problem);
    });
    has_large_spread = [&](const std::string& name) { return name == uneven; };
    tune(Mode::exhaustive);
    ASSERT_TRUE(measured.contains(uneven));
    EXPECT_GE(timing_of(uneven)->samples, autotune::steady_blocks);
    EXPECT_FALSE(autotune::has_large_spread(*timing_of(uneven)));
    EXPECT_EQ(tune(Mode::exhaustive).measured, 0);
}

TEST(EffortOf, BudgetsAreGivenOrThoseOfTheMode) {
    EXPECT_EQ(seconds_of({.mode = Mode::quick}), 1);
    EXPECT_EQ(seconds_of({.mode = Mode::normal}), 5);
    EXPECT_EQ(seconds_of({.mode = Mode::exhaustive}), max_seconds);
    for (const Mode mode : {Mode::quick, Mode::normal, Mode::exhaustive}) {
        EXPECT_EQ(seconds_of({.mode = mode, .tune_seconds = 0.25}), 0.25);
        EXPECT_TRUE(measures(mode));
    }
    for (const Mode mode : {Mode::off, Mode::cached, Mode::replay}) EXPECT_FALSE(measures(mode));
    EXPECT_FALSE(effort_of(Mode::quick).runs_program_trials);
    EXPECT_GT(effort_of(Mode::exhaustive).max_challengers, effort_of(Mode::normal).max_challengers);
}

}  // namespace
}  // namespace cairn::autotune
