#include "autotune/measurement/calibration_records.hpp"
#include "autotune/measurement/splitmix.hpp"
#include "autotune/policy/tuner.hpp"
#include "autotune/policy/tuning_tasks.hpp"
#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"
#include "graph/types/unit_table.hpp"
#include "tests/autotune/database/environments.hpp"
#include "tests/autotune/database/took.hpp"
#include "tests/autotune/policy/fake_measurer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace cairn::autotune {
namespace {

using test::FakeMeasurer, test::FakeTuning;

Graph block() {
    Graph g("block");
    const Dim n = g.symbol("N", 1, 64);
    const Tensor x = g.input("x", DType::f32, {n, 64});
    const Tensor wide = gelu(linear(layer_norm(x, g.weight("g", DType::f32, {64}), g.weight("b", DType::f32, {64})),
                                    g.weight("w", DType::f32, {64, 96}), g.weight("v", DType::f32, {96})));
    g.output("y", softmax(x + linear(wide, g.weight("u", DType::f32, {96, 64}))));
    return g;
}

using TimeOf = std::function<double(const Kernel& kernel, const Problem& problem)>;

/// This machine with invented kernel times, and shipped timings of another one.
class WithShippedTimings {
public:
    WithShippedTimings(std::uint64_t number, const Graph& graph)
        : tuning(graph, context, {{"N", {1}}}), measurer(tuning.costs, number) {
        tuning.costs.environment.hard = environment("Here");
        without = seconds(tuning.untuned());
        best = seconds(tuning.best(measurer));
        other_machine = tuning.costs.machine;
        other_machine.flops *= 3;
        other_machine.unit_flops[index_of(*unit_of(Arithmetic::f32, context.features()))] = other_machine.flops;
        other_machine.bandwidth *= 0.5;
        other_machine.cache_bandwidth = 3 * other_machine.bandwidth;
        other_machine.cache_bytes = 1e6;
        folder = std::filesystem::path(CAIRN_BINARY_DIR) / "shipped_timings_test" /
                 testing::UnitTest::GetInstance()->current_test_info()->name();
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
    }
    std::string environment(const char* name) const {
        return test::environment({.name = name, .features = to_string(context.features()), .threads = 1});
    }
    double seconds(const selection::Selections& chosen) { return tuning.seconds(chosen, measurer); }

    /// Time of a kernel on the other machine: its time on this machine by the measurer, scaled by the ratio of the
    /// rooflines, and 10 % of noise either way.
    double rescaled_time(const Kernel& kernel, const Problem& problem) {
        std::uint64_t state = kernel.id.size() * 977 + digest(to_string(problem)).low;
        const double chance = static_cast<double>(autotune::splitmix64(state) >> 11) * 0x1p-53;
        selection::CostModel theirs = tuning.costs;
        theirs.machine = other_machine;
        return measurer.time_of(kernel, problem) * std::pow(1.1, 2 * chance - 1) *
               selection::roofline_seconds(kernel, problem, theirs) /
               selection::roofline_seconds(kernel, problem, tuning.costs);
    }
    /// Writes shipped timings of all calls queried so far.
    void write_shipped_timings(const TimeOf& time_of) {
        const TimingEnvironment theirs{environment("There"), ""};
        {
            TimingDb shipped(folder / "shipped_timings.db");
            autotune::record_calibration(shipped, theirs, tuning.costs.policy, {other_machine, true});
            for (const selection::Bucket& bucket : tuning.selected)
                for (std::size_t match = 0; match < bucket.matches.size(); ++match)
                    for (const selection::KernelQuery* query : bucket.candidates.queries_for(static_cast<int>(match)))
                        query->for_each_answer([&](const Kernel& kernel, const selection::QueryResult& query_result) {
                            if (!query_result.refusal.empty()) return;
                            const auto sizes = selection::representative_sizes(*bucket.graph.symbols());
                            for (const selection::SizedProblem& sized :
                                 selection::sized_problems_at(*query->problem(), sizes))
                                shipped.record(*sized, kernel.id, theirs, tuning.costs.policy,
                                               test::took(time_of(kernel, *sized)));
                        });
        }
        const TimingDb shipped_timings("", nullptr, {.shipped_timings = {folder / "shipped_timings.db"}});
        tuning.costs.priors = std::make_shared<const selection::Priors>(
            shipped_timings, tuning.costs.environment, tuning.costs.policy, context.kernels(), context.features());
    }
    /// The selection of a compile that measures nothing.
    selection::Selections first_start() {
        settle(tuning.selected, tuning.costs, tuning.options);
        return tuning.choose();
    }
    TuningResult tune(double budget = 1e6) {
        return run_tuner(tuning.selected, context, tuning.costs, tuning.options, {budget, {}, {}}, measurer.measurer());
    }

    const Context context;
    FakeTuning tuning;
    FakeMeasurer measurer;
    Calibration other_machine;
    std::filesystem::path folder;
    double without = 0, best = 0;  // seconds of runs
};

TEST(WithShippedTimings, AFirstStartChoosesNearlyAsAfterATune) {
    const Graph graph = block();
    constexpr int machines = 8;
    double regret_without = 0, regret_with = 0;
    for (std::uint64_t number = 1; number <= machines; ++number)
        for (const bool is_calibrated : {false, true}) {
            WithShippedTimings seeded(number, graph);
            seeded.tuning.costs.is_calibrated = is_calibrated;
            seeded.write_shipped_timings([&](const Kernel& k, const Problem& p) { return seeded.rescaled_time(k, p); });
            const selection::Selections chosen = seeded.first_start();
            std::size_t expected = 0, all = 0;
            for (const selection::Selection& bucket : chosen.buckets)
                for (const selection::Choice& choice : bucket.chosen) {
                    if (choice.candidate.match < 0) continue;  // a copy, which belongs to no match
                    EXPECT_FALSE(choice.candidate.estimate.measured);
                    expected += choice.candidate.estimate.from != nullptr;
                    ++all;
                }
            EXPECT_EQ(expected, all) << "each is expected from the other machine";
            EXPECT_EQ(seeded.context.impl()->timings->size(), 0U);
            const double with = seeded.seconds(chosen);
            // A call may be bound by another resource on the other machine than on this one, which only a calibration
            // shows: without one, shipped timings are better on average, not in every case.
            if (is_calibrated) {
                EXPECT_LE(with, 1.15 * seeded.best) << "machine " << number;
                EXPECT_LT(with, seeded.without) << "machine " << number;
            }
            regret_without += seeded.without / seeded.best - 1;
            regret_with += with / seeded.best - 1;
        }
    std::printf("mean regret of a first start: %.3f without shipped timings, %.3f with\n",
                regret_without / (2 * machines), regret_with / (2 * machines));
    EXPECT_GT(regret_without, 5 * regret_with);
}

TEST(WithShippedTimings, ATruncatedTuneIsNeverWorseThanTheFirstStart) {
    const Graph graph = block();
    double spent = 0;
    for (int part = 10; part >= 0; --part) {
        WithShippedTimings seeded(1, graph);
        seeded.write_shipped_timings([&](const Kernel& k, const Problem& p) { return seeded.rescaled_time(k, p); });
        const double first = seeded.seconds(seeded.first_start());
        const TuningResult profiled = seeded.tune(part == 10 ? 1e6 : spent * part / 10);
        if (part == 10) {
            EXPECT_TRUE(profiled.complete);
            spent = seeded.measurer.now();
        }
        EXPECT_LE(seeded.seconds(seeded.tuning.choose()), first * (1 + 1e-9)) << "cut at " << part << " of 10";
        const double again = seeded.seconds(seeded.first_start());
        EXPECT_EQ(again, seeded.seconds(seeded.first_start())) << "the next start chooses the same";
    }
}

TEST(WithShippedTimings, WrongShippedTimingsDoNotChangeATune) {
    const Graph graph = block();
    for (std::uint64_t number = 1; number <= 2; ++number) {
        WithShippedTimings alone(number, graph);
        EXPECT_TRUE(alone.tune().complete);
        const double right = alone.seconds(alone.tuning.choose());
        EXPECT_LE(right, 1.03 * alone.best);
        WithShippedTimings seeded(number, graph);
        // The shipped times are inverse to the times of this machine.
        seeded.write_shipped_timings(
            [&](const Kernel& k, const Problem& p) { return 1e-10 / seeded.measurer.time_of(k, p); });
        EXPECT_GT(seeded.seconds(seeded.first_start()), 1.2 * seeded.best) << "it is believed where nothing is known";
        EXPECT_TRUE(seeded.tune().complete);
        EXPECT_NEAR(seeded.seconds(seeded.tuning.choose()), right, 0.01 * right);
    }
}

TEST(WithShippedTimings, MeasurementsRescaleAllExpectedTimes) {
    WithShippedTimings seeded(1, block());
    seeded.write_shipped_timings([&](const Kernel& k, const Problem& p) { return seeded.rescaled_time(k, p) / 100; });
    seeded.first_start();
    EXPECT_NEAR(learned_from(seeded.tuning.selected, seeded.tuning.costs).time_scale, 1, 1e-9) << "nothing is known";
    seeded.tune(seeded.measurer.now() + 0.05);
    seeded.tuning.costs.timing_transfer = nullptr;
    for (const selection::Bucket& bucket : seeded.tuning.selected) bucket.candidates.set_costs(seeded.tuning.costs);
    seeded.tuning.choose();
    const LearnedEstimates learned = learned_from(seeded.tuning.selected, seeded.tuning.costs);
    EXPECT_GT(learned.time_scale, 10);
    EXPECT_FALSE(learned.own.empty());
}

}  // namespace
}  // namespace cairn::autotune
