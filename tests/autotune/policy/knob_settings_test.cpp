#include "autotune/policy/knob_settings.hpp"

#include "autotune/policy/tuner.hpp"
#include "cairn/ops.hpp"
#include "device/context_impl.hpp"
#include "tests/autotune/database/took.hpp"
#include "tests/autotune/policy/fake_measurer.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cairn::autotune {
namespace {

using test::FakeMeasurer, test::FakeTuning;

/// A kernel for `exp` with three settings, whose estimate is slow if `is_slow`.
Kernel kernel(const std::string& id, bool is_slow) {
    Kernel made;
    made.id = id;
    made.definition = "exp";
    made.accepts = [](const Problem&) -> Refusal { return {}; };
    if (is_slow)
        made.cost = [](const Problem&) { return Cost{1e9, 1, 1}; };
    else
        made.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    made.run = [](const Args&, Team&) {};
    made.knobs = {{"step", {1, 2, 4}}};
    return made;
}

Context context_with(std::vector<Kernel> kernels) {
    ContextOptions options;
    options.extra.kernels = std::move(kernels);
    return Context(options);
}

Graph graph() {
    Graph g("exp");
    g.output("y", exp(g.input("x", DType::f32, {4096})));
    return g;
}

/// Number of times each setting of the two kernels was measured in a mode.
std::map<std::string, int> measured_in(Mode mode, std::uint64_t seed, double budget = 1e6) {
    const Context context = context_with({kernel("my.fast@1", false), kernel("my.slow@1", true)});
    const Graph exp = graph();
    FakeTuning tuning(exp, context, {});
    FakeMeasurer measurer(tuning.costs, seed);
    run_tuner(tuning.selected, context, tuning.costs, tuning.options,
              {budget, {}, {}, usual_hang_seconds, effort_of(mode)}, measurer.measurer());
    std::map<std::string, int> times;
    for (const auto& [name, count] : measurer.measured())
        if (name.starts_with("my.")) times[name.substr(0, name.find(' '))] = count;
    return times;
}

TEST(Settings, AreMeasuredAsTheModeRequires) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        for (const auto& [id, count] : measured_in(Mode::quick, seed)) EXPECT_EQ(id.find('{'), std::string::npos) << id;
        const auto normal = measured_in(Mode::normal, seed), all = measured_in(Mode::exhaustive, seed);
        EXPECT_TRUE(normal.contains("my.fast@1{step=2}") && normal.contains("my.fast@1{step=4}")) << seed;
        EXPECT_FALSE(normal.contains("my.slow@1{step=2}") || normal.contains("my.slow@1{step=4}"))
            << "it is on no good way";
        EXPECT_EQ(normal.at("my.fast@1"), 2) << "beside its settings once more";
        EXPECT_EQ(all.size(), 6u);
        for (const auto& [id, count] : normal) EXPECT_TRUE(all.contains(id)) << "normal is a part of exhaustive";
    }
}

TEST(Settings, TheBestIsChosenAndATruncatedTuneIsNeverWorse) {
    int gained = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const Context context = context_with({kernel("my.fast@1", false)});
        const Graph exp = graph();
        double whole = 0;
        for (int part = 8; part >= 0; --part) {
            FakeTuning tuning(exp, context, {});
            FakeMeasurer measurer(tuning.costs, seed);
            tuning.costs.environment.hard += std::to_string(seed) + ' ' + std::to_string(part);  // nothing is known
            const double untuned = tuning.seconds(tuning.untuned(), measurer);
            const TuningResult profiled =
                run_tuner(tuning.selected, context, tuning.costs, tuning.options,
                          {part == 8 ? 1e6 : whole * part / 8, {}, {}, usual_hang_seconds, effort_of(Mode::normal)},
                          measurer.measurer());
            const selection::Selections chosen = tuning.choose();
            const double tuned = tuning.seconds(chosen, measurer);
            EXPECT_LE(tuned, untuned * (1 + 1e-9)) << "seed " << seed << ", cut at " << part << " of 8";
            if (part < 8) continue;
            whole = measurer.now();
            EXPECT_TRUE(profiled.complete);
            const std::string id = chosen.buckets[0].chosen[0].candidate.kernel->id;
            gained += id.find('{') != std::string::npos;
            if (!id.starts_with("my.")) continue;
            const Problem& problem = *chosen.buckets[0].chosen[0].candidate.problem;
            for (const Kernel& setting : context.kernels().kernels)
                if (setting.id.starts_with("my.")) {
                    EXPECT_LE(tuned, 1.03 * measurer.time_of(setting, problem)) << setting.id;
                }
        }
    }
    EXPECT_GE(gained, 3);
}

TEST(Settings, OnlyPossibleWinnersAreCandidatesOnceEach) {
    const Context context = context_with({kernel("my.fast@1", false)});
    const Graph exp = graph();
    FakeTuning tuning(exp, context, {});
    const selection::Selections chosen = tuning.untuned();
    tuning.selected[0].candidates.set_costs(tuning.costs);
    ASSERT_EQ(chosen.buckets[0].chosen[0].candidate.kernel->id, "my.fast@1");
    const auto record = [&](const std::string& id, double seconds) {
        context.impl()->timings->record(*chosen.buckets[0].chosen[0].candidate.problem, id, tuning.costs.environment,
                                        tuning.costs.policy, test::took(seconds));
    };
    std::set<std::string> tried;
    const auto settings = [&] { return unknown_settings(tuning.selected, chosen, tuning.costs, tried); };
    ASSERT_EQ(settings().size(), 1u);
    record("my.fast@1", 1);
    record("my.fast@1{step=2}", 1);
    const std::vector<TuningTask> all = settings();
    ASSERT_EQ(all.size(), 1u);
    ASSERT_EQ(all[0].calls.size(), 2u);
    EXPECT_EQ(all[0].calls[0].kernel->id, "my.fast@1");
    EXPECT_EQ(all[0].calls[1].kernel->id, "my.fast@1{step=4}");
    const CandidateSet candidate_set = candidates_of_settings(all[0], tuning.costs);
    ASSERT_EQ(candidate_set.candidates.size(), 2u);
    EXPECT_EQ(candidate_set.candidates[0].lower_bound, 0);
    EXPECT_GT(candidate_set.candidates[1].lower_bound, 0);
    context.impl()->timings->record(*chosen.buckets[0].chosen[0].candidate.problem, "my.fast@1", {"other", ""},
                                    tuning.costs.policy, test::took(1e-15));
    selection::CostModel elsewhere = tuning.costs;
    elsewhere.environment = {"other", ""};
    EXPECT_TRUE(candidates_of_settings(all[0], elsewhere).candidates.empty()) << "none may be faster";
    tried.insert(selection::call_key(*all[0].calls[1].kernel, all[0].calls[1].problem));
    EXPECT_TRUE(settings().empty());
}

}  // namespace
}  // namespace cairn::autotune
