#include "autotune/policy/program_trials.hpp"

#include "cairn/cairn.hpp"
#include "tests/selection/choose/bucket_set.hpp"
#include "tests/selection/choose/packed_product_fixture.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string>
#include <thread>

namespace cairn::autotune {
namespace {

/// Three products, each with its weight as stored or packed, whose times in whole programs are invented.
class ProgramTrialsTest : public selection::PackedProductFixture {
protected:
    using Packed = std::vector<bool>;  // of each product

    void make(std::vector<Seconds> seconds) {
        seconds_of = std::move(seconds);
        Graph graph("g");
        for (std::size_t r = 0; r < seconds_of.size(); ++r) {
            const std::string name = std::to_string(r);
            const Tensor x = graph.input("x" + name, DType::f32, {static_cast<std::int64_t>(r) + 1, 64});
            graph.output("y" + name, matmul(x, graph.weight("w" + name, DType::f32, {64, 64})));
        }
        programs.clear();
        programs.add(graph, kernels, costs);
        chosen = selection::select(programs.buckets(), options);
    }
    Packed packed(const selection::Selections& covers) const {
        Packed of(seconds_of.size());
        for (const selection::Choice& choice : covers.buckets[0].chosen)
            if (choice.candidate.problem->definition == "matmul")
                of[static_cast<std::size_t>(choice.candidate.problem->inputs[0].shape[0].constant() - 1)] =
                    !choice.candidate.kernel->packed_inputs.empty();
        return of;
    }
    /// Call kinds of the covers with these forms.
    std::vector<selection::CallKind> call_kinds_by_time(const Packed& forms) {
        selection::CoverConstraints terms;
        for (const selection::CallKindSeconds& each : selection::call_kinds_by_time(programs.buckets(), chosen))
            for (std::size_t r = 0; r < forms.size(); ++r)
                if (forms[r] != packed(chosen)[r] &&
                    each.kind.problem.starts_with(fmt::format("matmul | f32[{},", r + 1)))
                    terms.without.push_back(each.kind);
        const auto covers = selection::cheapest_covers_under(terms, chosen, programs.buckets(), options);
        std::vector<selection::CallKind> kinds;
        for (const selection::CallKindSeconds& each : selection::call_kinds_by_time(programs.buckets(), covers.value()))
            kinds.push_back(each.kind);
        return kinds;
    }
    selection::Selections plan_covers() const {
        return selection::cheapest_covers_under({{}, plan}, chosen, programs.buckets(), options).value();
    }
    /// A trial without noise, by the invented times of whole programs.
    RunPairedTrial run_paired_trial() {
        return [this](const selection::Selections& best, const selection::Selections& challenger, double seconds,
                      std::uint64_t seed) {
            EXPECT_GT(seconds, 0);
            trials_run.push_back({packed(challenger), seed});
            std::this_thread::sleep_for(preparing);
            if (unrunnable == packed(challenger)) return autotune::EliminationResult();
            if (untimed == packed(challenger)) {
                autotune::EliminationResult result;
                result.winner = 0;
                result.candidates.resize(2);
                result.candidates[0].timing.samples = 1;
                return result;
            }
            if (seed == 2 && is_late) throw Error(ErrorKind::argument, "tune", "no time");
            const double ratio = whole.at(packed(challenger)) / whole.at(packed(best));
            const bool is_faster = seed == 2 ? ratio < second_trial_threshold : ratio < 0.99;
            autotune::EliminationResult result;
            result.winner = ratio < 1 ? 1 : 0;
            result.candidates.resize(2);
            for (autotune::CandidateResult& candidate : result.candidates) {
                candidate.timing.samples = 5;
                candidate.status = autotune::CandidateStatus::remaining;
            }
            autotune::CandidateResult& loser = result.candidates[ratio < 1 ? 0 : 1];
            loser.status =
                is_faster || ratio > 1 ? autotune::CandidateStatus::slower : autotune::CandidateStatus::indifferent;
            loser.ratio = ratio < 1 ? 1 / ratio : ratio;
            loser.low = loser.ratio - 0.01;
            loser.high = loser.ratio + 0.01;
            return result;
        };
    }
    ProgramTrialsOutcome run_trials(const std::optional<TrialRecord>& so_far = std::nullopt, double seconds = 100,
                                    Mode mode = Mode::normal) {
        const Budget budget{seconds, {}, stop, usual_hang_seconds, effort_of(mode)};
        return run_program_trials(chosen, programs.buckets(), run_paired_trial(), options, budget, plan, so_far);
    }

    selection::BucketSet programs;
    selection::Options options{.seconds_per_kept_byte = 0};
    selection::Selections chosen;
    std::map<Packed, double> whole;
    std::vector<selection::CallKind> plan;
    Packed unrunnable, untimed;
    std::chrono::milliseconds preparing{0};
    bool is_late = false;                  // the second trial has no time for its weights
    double second_trial_threshold = 0.99;  // a ratio below this wins the second trial
    std::vector<std::pair<Packed, std::uint64_t>> trials_run;
    std::stop_token stop;
};

constexpr bool stored_form = false, packed_form = true;

TEST_F(ProgramTrialsTest, TheFasterProgramIsChosen) {
    make({{1.02e-3, 1e-3}, {1e-3, 1.03e-3}});
    ASSERT_EQ(packed(chosen), (Packed{packed_form, stored_form}));
    whole = {{{packed_form, stored_form}, 5},
             {{stored_form, stored_form}, 4},
             {{packed_form, packed_form}, 6},
             {{stored_form, packed_form}, 3}};
    const ProgramTrialsOutcome found = run_trials();
    EXPECT_EQ(packed(found.covers), (Packed{stored_form, packed_form}));
    EXPECT_TRUE(found.trial_record.complete);
    EXPECT_EQ(found.trial_record.terms.without.size(), 2U);
    EXPECT_EQ(found.trial_record.best, name_of(programs.buckets(), found.covers, options));
    // The challenger with the stored weight comes first, since its extra cost is least; then, in addition, the packed
    // one.
    ASSERT_EQ(found.trials.size(), 2U);
    EXPECT_TRUE(found.trials[0].won);
    EXPECT_NEAR(found.trials[0].expected, 0.01, 1e-3);
    EXPECT_NEAR(found.trials[0].ratio, 0.8, 1e-9);
    EXPECT_LT(found.trials[0].low, 0.8);
    EXPECT_GT(found.trials[0].high, 0.8);
    EXPECT_EQ(found.trials[0].samples, 10);
    EXPECT_EQ(
        std::count_if(found.trials.begin(), found.trials.end(), [](const ProgramTrial& trial) { return trial.won; }),
        2);
}

TEST_F(ProgramTrialsTest, TheUnmeasuredPlanIsTriedWhateverItsSum) {
    make({{2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = call_kinds_by_time({stored_form, packed_form});
    ASSERT_EQ(packed(chosen), (Packed{packed_form, stored_form}));
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, packed_form}, 6}};
    const ProgramTrialsOutcome slower = run_trials();
    EXPECT_EQ(packed(slower.covers), (Packed{packed_form, stored_form}));
    ASSERT_EQ(slower.trials.size(), 1U);
    EXPECT_EQ(slower.trials[0].terms.only, plan);
    EXPECT_NEAR(slower.trials[0].expected, 1, 1e-3);
    EXPECT_EQ(trials_run.size(), 2U);
    EXPECT_TRUE(slower.trial_record.complete);

    whole[{stored_form, packed_form}] = 4;
    trials_run.clear();
    const ProgramTrialsOutcome won = run_trials();
    EXPECT_EQ(packed(won.covers), (Packed{stored_form, packed_form}));
    EXPECT_EQ(won.trial_record.terms, (selection::CoverConstraints{{}, plan}));
    EXPECT_TRUE(won.trial_record.complete);
    EXPECT_EQ(won.trial_record.rejected.size(), 1U);
    EXPECT_EQ(trials_run.size(), 1U);
    // It is found again from its stored text.
    const auto again = best_of(*parse_trial_record(to_string(won.trial_record)), chosen, programs.buckets(), options);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->path, won.covers.path);
}

TEST_F(ProgramTrialsTest, AnUndecidedTrialKeepsThePlan) {
    make({{2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = call_kinds_by_time({stored_form, packed_form});
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, packed_form}, 4.98}};
    const ProgramTrialsOutcome found = run_trials();
    EXPECT_EQ(packed(found.covers), (Packed{stored_form, packed_form}));
    EXPECT_EQ(trials_run.size(), 1U);
    ASSERT_EQ(found.trials.size(), 1U);
    EXPECT_TRUE(found.trials[0].won);
    EXPECT_TRUE(found.trial_record.complete);
}

TEST_F(ProgramTrialsTest, APlanWithoutATimedRunIsNotKept) {
    make({{1.2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = call_kinds_by_time({stored_form, stored_form});
    whole = {{{packed_form, stored_form}, 5}};
    untimed = {stored_form, stored_form};
    const ProgramTrialsOutcome found = run_trials();
    EXPECT_EQ(packed(found.covers), (Packed{packed_form, stored_form}));
    EXPECT_TRUE(found.trials.empty());
    EXPECT_TRUE(is_known(found.trial_record, name_of(programs.buckets(), plan_covers(), options)));
}

TEST_F(ProgramTrialsTest, APlanThatCannotRunIsKeptUnlessSumsGainMuch) {
    make({{1.2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = call_kinds_by_time({stored_form, stored_form});
    unrunnable = {stored_form, stored_form};
    const ProgramTrialsOutcome kept = run_trials();
    EXPECT_EQ(packed(kept.covers), (Packed{stored_form, stored_form}));
    EXPECT_EQ(kept.trial_record.best, name_of(programs.buckets(), kept.covers, options));
    EXPECT_TRUE(kept.trial_record.rejected.empty());
    EXPECT_EQ(trials_run.size(), 1U);
    EXPECT_TRUE(kept.trial_record.complete);

    make({{2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = call_kinds_by_time({stored_form, packed_form});
    unrunnable = {stored_form, packed_form};
    const ProgramTrialsOutcome left = run_trials();
    EXPECT_EQ(packed(left.covers), (Packed{packed_form, stored_form}));
    EXPECT_TRUE(left.trial_record.complete);
}

TEST_F(ProgramTrialsTest, APlanThatLostATrialAndCannotRunAgainIsNotKept) {
    make({{1.2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = call_kinds_by_time({stored_form, stored_form});
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, stored_form}, 6}};
    is_late = true;
    const ProgramTrialsOutcome found = run_trials();
    EXPECT_EQ(packed(found.covers), (Packed{packed_form, stored_form}));
    EXPECT_EQ(found.trials.size(), 1U);
    EXPECT_EQ(trials_run.size(), 2U);
    EXPECT_TRUE(is_known(found.trial_record, name_of(programs.buckets(), plan_covers(), options)));
}

TEST_F(ProgramTrialsTest, AWinningPlanHasNoFurtherChallengers) {
    make({{1.02e-3, 1e-3}, {1e-3, 2e-3}});
    plan = call_kinds_by_time({packed_form, packed_form});
    whole = {{{packed_form, stored_form}, 5}, {{packed_form, packed_form}, 4}};
    const ProgramTrialsOutcome found = run_trials();
    EXPECT_EQ(packed(found.covers), (Packed{packed_form, packed_form}));
    EXPECT_EQ(trials_run.size(), 1U);
    EXPECT_TRUE(found.trial_record.complete);
}

TEST_F(ProgramTrialsTest, ATuningRegressionIsDetectedWithFewerRuns) {
    make({{0.36, 0.3}, {1e-3, 1e-3}});  // four pairs take less than three seconds, eight do not
    plan = call_kinds_by_time({stored_form, packed(chosen)[1]});
    whole = {{packed(chosen), 5}, {{stored_form, packed(chosen)[1]}, 6}};
    EXPECT_EQ(run_trials().trials.size(), 1U);
    make({{0.46, 0.3}, {1e-3, 1e-3}});
    EXPECT_TRUE(run_trials().trials.empty());
}

TEST_F(ProgramTrialsTest, APlanWithoutTimeForATrialIsKeptUnlessSumsGainMuch) {
    make({{1.05e-3, 1e-3}, {1e-3, 2e-3}});
    plan = call_kinds_by_time({stored_form, stored_form});
    const ProgramTrialsOutcome cut = run_trials(std::nullopt, 0);
    EXPECT_EQ(packed(cut.covers), (Packed{stored_form, stored_form}));
    EXPECT_EQ(cut.trial_record.terms, (selection::CoverConstraints{{}, plan}));
    EXPECT_FALSE(cut.trial_record.complete) << "it is to be run where there is time";
    EXPECT_FALSE(is_known(cut.trial_record, name_of(programs.buckets(), chosen, options)));

    make({{0.4, 0.38}, {1e-3, 1e-3}});  // four pairs take more than three seconds
    plan = call_kinds_by_time({stored_form, packed(chosen)[1]});
    const ProgramTrialsOutcome longer = run_trials();
    EXPECT_EQ(packed(longer.covers)[0], stored_form);
    EXPECT_TRUE(longer.trial_record.complete);
    EXPECT_TRUE(longer.trials.empty());

    make({{0.6, 0.38}, {1e-3, 1e-3}});
    EXPECT_EQ(packed(run_trials().covers)[0], packed_form) << "half as much again";
    EXPECT_TRUE(trials_run.empty());
}

TEST_F(ProgramTrialsTest, APlanThatWonIsKeptWithOtherKernels) {
    make({{1.05e-3, 1e-3}, {1e-3, 2e-3}});
    plan = call_kinds_by_time({stored_form, stored_form});
    ProgramTrialsOutcome cut = run_trials(std::nullopt, 0);
    cut.trial_record.best = digest("the plan by other kernels");
    make({{1.06e-3, 1e-3}, {1e-3, 0.9e-3}});
    ASSERT_EQ(packed(chosen), (Packed{packed_form, packed_form})) << "sums choose otherwise by now";
    const auto again = best_of(*parse_trial_record(to_string(cut.trial_record)), chosen, programs.buckets(), options);
    ASSERT_TRUE(again);
    EXPECT_EQ(packed(*again), (Packed{stored_form, stored_form}));
}

TEST_F(ProgramTrialsTest, APlanEqualToTheSelectionIsNotTried) {
    make({{2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = call_kinds_by_time(packed(chosen));
    const ProgramTrialsOutcome found = run_trials();
    EXPECT_TRUE(trials_run.empty());
    EXPECT_TRUE(found.trial_record.complete);
}

TEST_F(ProgramTrialsTest, AWinNeedsASecondTrial) {
    make({{1.02e-3, 1e-3}});
    whole = {{{packed_form}, 5}, {{stored_form}, 4}};
    second_trial_threshold = 0.5;
    const ProgramTrialsOutcome found = run_trials();
    EXPECT_EQ(packed(found.covers), (Packed{packed_form}));
    ASSERT_EQ(found.trials.size(), 1U);
    EXPECT_FALSE(found.trials[0].won);
    EXPECT_EQ(trials_run.size(), 2U);
    EXPECT_TRUE(found.trial_record.complete);
}

TEST_F(ProgramTrialsTest, ExpensiveChallengersAreNotTried) {
    make({{1.2e-3, 1e-3}, {1e-3, 1.5e-3}});
    const ProgramTrialsOutcome found = run_trials();
    EXPECT_TRUE(found.trials.empty());
    EXPECT_TRUE(trials_run.empty());
    EXPECT_TRUE(found.trial_record.complete);
    EXPECT_EQ(found.covers.path, chosen.path);
}

TEST_F(ProgramTrialsTest, ChallengersThatCannotRunAreSkipped) {
    make({{1.02e-3, 1e-3}, {1e-3, 1.03e-3}});
    whole = {{{packed_form, stored_form}, 5}, {{packed_form, packed_form}, 4}, {{stored_form, packed_form}, 6}};
    unrunnable = {stored_form, stored_form};
    const ProgramTrialsOutcome found = run_trials();
    EXPECT_EQ(packed(found.covers), (Packed{packed_form, packed_form}));
    EXPECT_TRUE(found.trial_record.complete);
    for (const ProgramTrial& trial : found.trials) EXPECT_GT(trial.samples, 0);
}

TEST_F(ProgramTrialsTest, ContinuesWhereItWasTruncated) {
    make({{1.02e-3, 1e-3}, {1e-3, 1.03e-3}});
    whole = {{{packed_form, stored_form}, 5},
             {{stored_form, stored_form}, 4},
             {{packed_form, packed_form}, 6},
             {{stored_form, packed_form}, 3}};
    const ProgramTrialsOutcome none = run_trials(std::nullopt, 0);
    EXPECT_FALSE(none.trial_record.complete);
    EXPECT_TRUE(trials_run.empty());
    EXPECT_EQ(none.covers.path, chosen.path);

    TrialRecord first;  // after the first trial
    for (const selection::CallKindSeconds& each : selection::call_kinds_by_time(programs.buckets(), chosen))
        if (each.kind.problem.find("f32[1,64]") != std::string::npos && each.kind.problem.starts_with("matmul"))
            first.terms.without = {each.kind};
    const auto stored = selection::cheapest_covers_under(first.terms, chosen, programs.buckets(), options);
    ASSERT_TRUE(stored);
    first.best = name_of(programs.buckets(), *stored, options);
    first.rejected = {name_of(programs.buckets(), chosen, options)};
    const ProgramTrialsOutcome rest = run_trials(parse_trial_record(to_string(first)));
    EXPECT_EQ(packed(rest.covers), (Packed{stored_form, packed_form}));
    EXPECT_TRUE(rest.trial_record.complete);
    EXPECT_EQ(rest.trials.size(), 1U);

    trials_run.clear();
    const ProgramTrialsOutcome again = run_trials(rest.trial_record);
    EXPECT_EQ(packed(again.covers), (Packed{stored_form, packed_form}));
    EXPECT_TRUE(trials_run.empty());
}

TEST_F(ProgramTrialsTest, RejectedChallengersAreNotTriedAgain) {
    make({{1.02e-3, 1e-3}, {1e-3, 1.03e-3}});
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, stored_form}, 6}, {{packed_form, packed_form}, 6}};
    TrialRecord cut = run_trials().trial_record;
    ASSERT_EQ(cut.rejected.size(), 2U);
    cut.rejected.pop_back();
    cut.complete = false;
    trials_run.clear();
    EXPECT_EQ(run_trials(cut).trial_record.rejected.size(), 2U);
    EXPECT_EQ(trials_run.size(), 1U);
}

TEST_F(ProgramTrialsTest, ARecordOfOtherCoversIsDiscarded) {
    make({{1.02e-3, 1e-3}});
    whole = {{{packed_form}, 4}, {{stored_form}, 5}};
    TrialRecord old;
    old.complete = true;
    old.best = digest("something else");
    const ProgramTrialsOutcome found = run_trials(old);
    EXPECT_EQ(found.trials.size(), 1U);
    EXPECT_EQ(found.covers.path, chosen.path);
}

TEST_F(ProgramTrialsTest, ExhaustiveTriesMoreExpensiveChallengers) {
    make({{1.02e-3, 1e-3}, {1e-3, 1.2e-3}});
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, stored_form}, 6}, {{packed_form, packed_form}, 6}};
    const ProgramTrialsOutcome normal = run_trials();
    EXPECT_TRUE(normal.trial_record.complete);
    EXPECT_FALSE(normal.trial_record.is_thorough);
    ASSERT_EQ(trials_run.size(), 1U);
    trials_run.clear();
    const ProgramTrialsOutcome more = run_trials(normal.trial_record, 100, Mode::exhaustive);
    EXPECT_TRUE(more.trial_record.complete && more.trial_record.is_thorough);
    ASSERT_EQ(trials_run.size(), 1U) << "a rejected challenger is not run again";
    EXPECT_EQ(trials_run[0].first, (Packed{packed_form, packed_form}));
    trials_run.clear();
    for (const Mode mode : {Mode::normal, Mode::exhaustive})
        EXPECT_TRUE(run_trials(more.trial_record, 100, mode).trial_record.is_thorough);
    EXPECT_TRUE(trials_run.empty());
}

TEST_F(ProgramTrialsTest, NoTrialStartsWithoutTimeToPrepare) {
    make({{1.01e-3, 1e-3}, {1e-3, 1.01e-3}, {1.01e-3, 1e-3}});
    for (const bool a : {false, true})
        for (const bool b : {false, true})
            for (const bool c : {false, true}) whole[{a, b, c}] = 5;
    whole[packed(chosen)] = 4;
    preparing = std::chrono::milliseconds(400);
    const ProgramTrialsOutcome found = run_trials(std::nullopt, 0.7);
    EXPECT_EQ(trials_run.size(), 1U) << "a second one would end after 0.8 s";
    EXPECT_FALSE(found.trial_record.complete);
    EXPECT_EQ(found.covers.path, chosen.path);
}

TEST_F(ProgramTrialsTest, TheTrialBudgetOfNormalIsSpentOnce) {
    make({{1.02e-3, 1e-3}, {1e-3, 1.03e-3}});
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, stored_form}, 6}, {{packed_form, packed_form}, 6}};
    preparing = std::chrono::milliseconds(400);
    Effort effort = effort_of(Mode::normal);
    effort.max_total_trial_seconds = 0.7;
    const auto trials = [&](double seconds) {
        trials_run.clear();
        return run_program_trials(chosen, programs.buckets(), run_paired_trial(), options,
                                  {seconds, {}, stop, usual_hang_seconds, effort}, {}, std::nullopt);
    };
    EXPECT_TRUE(trials(100).trial_record.complete);
    EXPECT_EQ(trials_run.size(), 1U) << "a second one would end after 0.8 s";
    EXPECT_FALSE(trials(0.69).trial_record.complete) << "cut by the budget";
    effort.max_total_trial_seconds = 100;
    EXPECT_TRUE(trials(101).trial_record.complete);
    EXPECT_EQ(trials_run.size(), 2U);
}

TEST_F(ProgramTrialsTest, TrialsWithTooFewRunsAreLeftToExhaustive) {
    make({{0.204, 0.2}, {1e-3, 1.03e-3}});  // 16 runs take 3.2 s and more
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, stored_form}, 4}};
    const ProgramTrialsOutcome normal = run_trials();
    EXPECT_TRUE(trials_run.empty());
    EXPECT_TRUE(normal.trial_record.complete && !normal.trial_record.is_thorough);
    EXPECT_EQ(packed(run_trials(normal.trial_record, 100, Mode::exhaustive).covers),
              (Packed{stored_form, stored_form}));
    EXPECT_FALSE(trials_run.empty());
}

TEST_F(ProgramTrialsTest, AFirstWinWithoutASecondTrialDoesNotCount) {
    make({{1.02e-3, 1e-3}});
    whole = {{{packed_form}, 5}, {{stored_form}, 4}};
    is_late = true;
    const ProgramTrialsOutcome found = run_trials();
    EXPECT_EQ(trials_run.size(), 2U);
    EXPECT_EQ(packed(found.covers), (Packed{packed_form}));
    for (const ProgramTrial& trial : found.trials) EXPECT_FALSE(trial.won);
}

TEST_F(ProgramTrialsTest, AStopRequestEndsThem) {
    make({{1.02e-3, 1e-3}});
    whole = {{{packed_form}, 4}, {{stored_form}, 5}};
    std::stop_source source;
    source.request_stop();
    stop = source.get_token();
    EXPECT_THROW(run_trials(), Cancelled);
}

}  // namespace
}  // namespace cairn::autotune
