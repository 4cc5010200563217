#include "tune/duels.hpp"

#include "cairn/cairn.hpp"
#include "tests/select/programs.hpp"
#include "tests/select/two_forms.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string>
#include <thread>

namespace cairn::tune {
namespace {

/// Three products, each with its weight as stored or packed, whose times in whole programs are invented.
class DuelsOfForms : public select::TwoForms {
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
        chosen = select::select(programs.buckets(), options);
    }
    Packed packed(const select::Selections& covers) const {
        Packed of(seconds_of.size());
        for (const select::Choice& choice : covers.buckets[0].chosen)
            if (choice.candidate.problem->definition == "matmul")
                of[static_cast<std::size_t>(choice.candidate.problem->inputs[0].shape[0].constant() - 1)] =
                    !choice.candidate.kernel->packed_inputs.empty();
        return of;
    }
    /// What covers with these forms call.
    std::vector<select::Kind> kinds_of(const Packed& forms) {
        select::Terms terms;
        for (const select::KindSeconds& each : select::kinds_of(programs.buckets(), chosen))
            for (std::size_t r = 0; r < forms.size(); ++r)
                if (forms[r] != packed(chosen)[r] && each.kind.problem.starts_with(fmt::format("matmul | f32[{},", r + 1)))
                    terms.without.push_back(each.kind);
        const auto covers = select::cheapest_on(terms, chosen, programs.buckets(), options);
        std::vector<select::Kind> kinds;
        for (const select::KindSeconds& each : select::kinds_of(programs.buckets(), covers.value()))
            kinds.push_back(each.kind);
        return kinds;
    }
    select::Selections plan_covers() const {
        return select::cheapest_on({{}, plan}, chosen, programs.buckets(), options).value();
    }
    /// A race without noise, by the times of whole programs.
    RunBeside run_beside() {
        return [this](const select::Selections& best, const select::Selections& rival, double seconds,
                      std::uint64_t seed) {
            EXPECT_GT(seconds, 0);
            races.push_back({packed(rival), seed});
            std::this_thread::sleep_for(preparing);
            if (unrunnable == packed(rival)) return timing::RaceResult();
            if (untimed == packed(rival)) {
                timing::RaceResult result;
                result.winner = 0;
                result.entrants.resize(2);
                result.entrants[0].timing.samples = 1;
                return result;
            }
            if (seed == 2 && is_late) throw Error(ErrorKind::argument, "tune", "no time");
            const double ratio = whole.at(packed(rival)) / whole.at(packed(best));
            const bool is_faster = seed == 2 ? ratio < lucky : ratio < 0.99;
            timing::RaceResult result;
            result.winner = ratio < 1 ? 1 : 0;
            result.entrants.resize(2);
            for (timing::Entrant& entrant : result.entrants) {
                entrant.timing.samples = 5;
                entrant.finish = timing::Finish::running;
            }
            timing::Entrant& loser = result.entrants[ratio < 1 ? 0 : 1];
            loser.finish = is_faster || ratio > 1 ? timing::Finish::lost : timing::Finish::close;
            loser.ratio = ratio < 1 ? 1 / ratio : ratio;
            loser.low = loser.ratio - 0.01;
            loser.high = loser.ratio + 0.01;
            return result;
        };
    }
    Duels duels(const std::optional<Standing>& so_far = std::nullopt, double seconds = 100, Mode mode = Mode::normal) {
        const Budget budget{seconds, {}, stop, usual_hang_seconds, effort_of(mode)};
        return fight(chosen, programs.buckets(), run_beside(), options, budget, plan, so_far);
    }

    select::Programs programs;
    select::Options options{.seconds_per_kept_byte = 0};
    select::Selections chosen;
    std::map<Packed, double> whole;
    std::vector<select::Kind> plan;
    Packed unrunnable, untimed;
    std::chrono::milliseconds preparing{0};
    bool is_late = false;  // the second race has no time for its weights
    double lucky = 0.99;   // who is faster than this in a second race wins it
    std::vector<std::pair<Packed, std::uint64_t>> races;
    std::stop_token stop;
};

constexpr bool stored_form = false, packed_form = true;

TEST_F(DuelsOfForms, WhoeverIsFasterAsAWholeIsChosen) {
    make({{1.02e-3, 1e-3}, {1e-3, 1.03e-3}});
    ASSERT_EQ(packed(chosen), (Packed{packed_form, stored_form}));
    whole = {{{packed_form, stored_form}, 5},
             {{stored_form, stored_form}, 4},
             {{packed_form, packed_form}, 6},
             {{stored_form, packed_form}, 3}};
    const Duels found = duels();
    EXPECT_EQ(packed(found.covers), (Packed{stored_form, packed_form}));
    EXPECT_TRUE(found.standing.complete);
    EXPECT_EQ(found.standing.terms.without.size(), 2U);
    EXPECT_EQ(found.standing.best, name_of(programs.buckets(), found.covers, options));
    // The stored weight first, since that costs least more; then beside it the packed one.
    ASSERT_EQ(found.fought.size(), 2U);
    EXPECT_TRUE(found.fought[0].won);
    EXPECT_NEAR(found.fought[0].expected, 0.01, 1e-3);
    EXPECT_NEAR(found.fought[0].ratio, 0.8, 1e-9);
    EXPECT_LT(found.fought[0].low, 0.8);
    EXPECT_GT(found.fought[0].high, 0.8);
    EXPECT_EQ(found.fought[0].samples, 10);
    EXPECT_EQ(std::count_if(found.fought.begin(), found.fought.end(), [](const Duel& duel) { return duel.won; }), 2);
}

TEST_F(DuelsOfForms, WhatACompileWithoutMeasuringDoesIsRunWhateverItCostsBySums) {
    make({{2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = kinds_of({stored_form, packed_form});
    ASSERT_EQ(packed(chosen), (Packed{packed_form, stored_form}));
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, packed_form}, 6}};
    const Duels lost = duels();
    EXPECT_EQ(packed(lost.covers), (Packed{packed_form, stored_form}));
    ASSERT_EQ(lost.fought.size(), 1U);
    EXPECT_EQ(lost.fought[0].terms.only, plan);
    EXPECT_NEAR(lost.fought[0].expected, 1, 1e-3);
    EXPECT_EQ(races.size(), 2U);
    EXPECT_TRUE(lost.standing.complete);

    whole[{stored_form, packed_form}] = 4;
    races.clear();
    const Duels won = duels();
    EXPECT_EQ(packed(won.covers), (Packed{stored_form, packed_form}));
    EXPECT_EQ(won.standing.terms, (select::Terms{{}, plan}));
    EXPECT_TRUE(won.standing.complete);
    EXPECT_EQ(won.standing.beaten.size(), 1U);
    EXPECT_EQ(races.size(), 1U);
    // It is found again by what is written of it.
    const auto again = best_of(*parse_standing(to_string(won.standing)), chosen, programs.buckets(), options);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->path, won.covers.path);
}

TEST_F(DuelsOfForms, WhereNothingIsDecidedThePlanIsKept) {
    make({{2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = kinds_of({stored_form, packed_form});
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, packed_form}, 4.98}};
    const Duels found = duels();
    EXPECT_EQ(packed(found.covers), (Packed{stored_form, packed_form}));
    EXPECT_EQ(races.size(), 1U);
    ASSERT_EQ(found.fought.size(), 1U);
    EXPECT_TRUE(found.fought[0].won);
    EXPECT_TRUE(found.standing.complete);
}

TEST_F(DuelsOfForms, APlanThatNoRunWasTimedOfIsNotKept) {
    make({{1.2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = kinds_of({stored_form, stored_form});
    whole = {{{packed_form, stored_form}, 5}};
    untimed = {stored_form, stored_form};
    const Duels found = duels();
    EXPECT_EQ(packed(found.covers), (Packed{packed_form, stored_form}));
    EXPECT_TRUE(found.fought.empty());
    EXPECT_TRUE(is_known(found.standing, name_of(programs.buckets(), plan_covers(), options)));
}

TEST_F(DuelsOfForms, APlanThatCannotBeRunIsKeptUnlessSumsPromiseMuchAndIsNotNamedBeaten) {
    make({{1.2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = kinds_of({stored_form, stored_form});
    unrunnable = {stored_form, stored_form};
    const Duels kept = duels();
    EXPECT_EQ(packed(kept.covers), (Packed{stored_form, stored_form}));
    EXPECT_EQ(kept.standing.best, name_of(programs.buckets(), kept.covers, options));
    EXPECT_TRUE(kept.standing.beaten.empty());
    EXPECT_EQ(races.size(), 1U);
    EXPECT_TRUE(kept.standing.complete);

    make({{2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = kinds_of({stored_form, packed_form});
    unrunnable = {stored_form, packed_form};
    const Duels left = duels();
    EXPECT_EQ(packed(left.covers), (Packed{packed_form, stored_form}));
    EXPECT_TRUE(left.standing.complete);
}

TEST_F(DuelsOfForms, APlanThatLostARaceAndCannotBeRunAgainIsNotKept) {
    make({{1.2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = kinds_of({stored_form, stored_form});
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, stored_form}, 6}};
    is_late = true;
    const Duels found = duels();
    EXPECT_EQ(packed(found.covers), (Packed{packed_form, stored_form}));
    EXPECT_EQ(found.fought.size(), 1U);
    EXPECT_EQ(races.size(), 2U);
    EXPECT_TRUE(is_known(found.standing, name_of(programs.buckets(), plan_covers(), options)));
}

TEST_F(DuelsOfForms, NothingIsLeftOutOfThePlanThatWon) {
    make({{1.02e-3, 1e-3}, {1e-3, 2e-3}});
    plan = kinds_of({packed_form, packed_form});
    whole = {{{packed_form, stored_form}, 5}, {{packed_form, packed_form}, 4}};
    const Duels found = duels();
    EXPECT_EQ(packed(found.covers), (Packed{packed_form, packed_form}));
    EXPECT_EQ(races.size(), 1U);
    EXPECT_TRUE(found.standing.complete);
}

TEST_F(DuelsOfForms, FewerRunsTellWhetherTuningHasHarmed) {
    make({{0.36, 0.3}, {1e-3, 1e-3}});  // four pairs take less than three seconds, eight do not
    plan = kinds_of({stored_form, packed(chosen)[1]});
    whole = {{packed(chosen), 5}, {{stored_form, packed(chosen)[1]}, 6}};
    EXPECT_EQ(duels().fought.size(), 1U);
    make({{0.46, 0.3}, {1e-3, 1e-3}});
    EXPECT_TRUE(duels().fought.empty());
}

TEST_F(DuelsOfForms, APlanThatNoRaceCanBeHeldOfIsTakenUnlessSumsPromiseMuch) {
    make({{1.05e-3, 1e-3}, {1e-3, 2e-3}});
    plan = kinds_of({stored_form, stored_form});
    const Duels cut = duels(std::nullopt, 0);
    EXPECT_EQ(packed(cut.covers), (Packed{stored_form, stored_form}));
    EXPECT_EQ(cut.standing.terms, (select::Terms{{}, plan}));
    EXPECT_FALSE(cut.standing.complete) << "it is to be run where there is time";
    EXPECT_FALSE(is_known(cut.standing, name_of(programs.buckets(), chosen, options)));

    make({{0.4, 0.38}, {1e-3, 1e-3}});  // four pairs take more than three seconds
    plan = kinds_of({stored_form, packed(chosen)[1]});
    const Duels longer = duels();
    EXPECT_EQ(packed(longer.covers)[0], stored_form);
    EXPECT_TRUE(longer.standing.complete);
    EXPECT_TRUE(longer.fought.empty());

    make({{0.6, 0.38}, {1e-3, 1e-3}});
    EXPECT_EQ(packed(duels().covers)[0], packed_form) << "half as much again";
    EXPECT_TRUE(races.empty());
}

TEST_F(DuelsOfForms, APlanThatWonStaysByWhateverKernels) {
    make({{1.05e-3, 1e-3}, {1e-3, 2e-3}});
    plan = kinds_of({stored_form, stored_form});
    Duels cut = duels(std::nullopt, 0);
    cut.standing.best = digest("the plan by other kernels");
    make({{1.06e-3, 1e-3}, {1e-3, 0.9e-3}});
    ASSERT_EQ(packed(chosen), (Packed{packed_form, packed_form})) << "sums choose otherwise by now";
    const auto again = best_of(*parse_standing(to_string(cut.standing)), chosen, programs.buckets(), options);
    ASSERT_TRUE(again);
    EXPECT_EQ(packed(*again), (Packed{stored_form, stored_form}));
}

TEST_F(DuelsOfForms, APlanThatIsWhatWasChosenIsNotRun) {
    make({{2e-3, 1e-3}, {1e-3, 2e-3}});
    plan = kinds_of(packed(chosen));
    const Duels found = duels();
    EXPECT_TRUE(races.empty());
    EXPECT_TRUE(found.standing.complete);
}

TEST_F(DuelsOfForms, NobodyWinsByOneRaceAlone) {
    make({{1.02e-3, 1e-3}});
    whole = {{{packed_form}, 5}, {{stored_form}, 4}};
    lucky = 0.5;
    const Duels found = duels();
    EXPECT_EQ(packed(found.covers), (Packed{packed_form}));
    ASSERT_EQ(found.fought.size(), 1U);
    EXPECT_FALSE(found.fought[0].won);
    EXPECT_EQ(races.size(), 2U);
    EXPECT_TRUE(found.standing.complete);
}

TEST_F(DuelsOfForms, WhatCostsMuchMoreIsNotRun) {
    make({{1.2e-3, 1e-3}, {1e-3, 1.5e-3}});
    const Duels found = duels();
    EXPECT_TRUE(found.fought.empty());
    EXPECT_TRUE(races.empty());
    EXPECT_TRUE(found.standing.complete);
    EXPECT_EQ(found.covers.path, chosen.path);
}

TEST_F(DuelsOfForms, WhoCannotBeRunIsPassedOver) {
    make({{1.02e-3, 1e-3}, {1e-3, 1.03e-3}});
    whole = {{{packed_form, stored_form}, 5}, {{packed_form, packed_form}, 4}, {{stored_form, packed_form}, 6}};
    unrunnable = {stored_form, stored_form};
    const Duels found = duels();
    EXPECT_EQ(packed(found.covers), (Packed{packed_form, packed_form}));
    EXPECT_TRUE(found.standing.complete);
    for (const Duel& duel : found.fought) EXPECT_GT(duel.samples, 0);
}

TEST_F(DuelsOfForms, GoesOnWhereItWasCut) {
    make({{1.02e-3, 1e-3}, {1e-3, 1.03e-3}});
    whole = {{{packed_form, stored_form}, 5},
             {{stored_form, stored_form}, 4},
             {{packed_form, packed_form}, 6},
             {{stored_form, packed_form}, 3}};
    const Duels none = duels(std::nullopt, 0);
    EXPECT_FALSE(none.standing.complete);
    EXPECT_TRUE(races.empty());
    EXPECT_EQ(none.covers.path, chosen.path);

    Standing first;  // after the first duel
    for (const select::KindSeconds& each : select::kinds_of(programs.buckets(), chosen))
        if (each.kind.problem.find("f32[1,64]") != std::string::npos && each.kind.problem.starts_with("matmul"))
            first.terms.without = {each.kind};
    const auto stored = select::cheapest_on(first.terms, chosen, programs.buckets(), options);
    ASSERT_TRUE(stored);
    first.best = name_of(programs.buckets(), *stored, options);
    first.beaten = {name_of(programs.buckets(), chosen, options)};
    const Duels rest = duels(parse_standing(to_string(first)));
    EXPECT_EQ(packed(rest.covers), (Packed{stored_form, packed_form}));
    EXPECT_TRUE(rest.standing.complete);
    EXPECT_EQ(rest.fought.size(), 1U);

    races.clear();
    const Duels again = duels(rest.standing);
    EXPECT_EQ(packed(again.covers), (Packed{stored_form, packed_form}));
    EXPECT_TRUE(races.empty());
}

TEST_F(DuelsOfForms, WhoWasBeatenIsNotRunAgain) {
    make({{1.02e-3, 1e-3}, {1e-3, 1.03e-3}});
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, stored_form}, 6}, {{packed_form, packed_form}, 6}};
    Standing cut = duels().standing;
    ASSERT_EQ(cut.beaten.size(), 2U);
    cut.beaten.pop_back();
    cut.complete = false;
    races.clear();
    EXPECT_EQ(duels(cut).standing.beaten.size(), 2U);
    EXPECT_EQ(races.size(), 1U);
}

TEST_F(DuelsOfForms, AStandingOfOtherCoversIsForgotten) {
    make({{1.02e-3, 1e-3}});
    whole = {{{packed_form}, 4}, {{stored_form}, 5}};
    Standing old;
    old.complete = true;
    old.best = digest("something else");
    const Duels found = duels(old);
    EXPECT_EQ(found.fought.size(), 1U);
    EXPECT_EQ(found.covers.path, chosen.path);
}

TEST_F(DuelsOfForms, ExhaustiveGoesOnWithRivalsThatCostMore) {
    make({{1.02e-3, 1e-3}, {1e-3, 1.2e-3}});
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, stored_form}, 6}, {{packed_form, packed_form}, 6}};
    const Duels normal = duels();
    EXPECT_TRUE(normal.standing.complete);
    EXPECT_FALSE(normal.standing.is_thorough);
    ASSERT_EQ(races.size(), 1U);
    races.clear();
    const Duels more = duels(normal.standing, 100, Mode::exhaustive);
    EXPECT_TRUE(more.standing.complete && more.standing.is_thorough);
    ASSERT_EQ(races.size(), 1U) << "who was beaten is not run again";
    EXPECT_EQ(races[0].first, (Packed{packed_form, packed_form}));
    races.clear();
    for (const Mode mode : {Mode::normal, Mode::exhaustive})
        EXPECT_TRUE(duels(more.standing, 100, mode).standing.is_thorough);
    EXPECT_TRUE(races.empty());
}

TEST_F(DuelsOfForms, NoRaceBeginsThatThereIsNoTimeToPrepare) {
    make({{1.01e-3, 1e-3}, {1e-3, 1.01e-3}, {1.01e-3, 1e-3}});
    for (const bool a : {false, true})
        for (const bool b : {false, true})
            for (const bool c : {false, true}) whole[{a, b, c}] = 5;
    whole[packed(chosen)] = 4;
    preparing = std::chrono::milliseconds(400);
    const Duels found = duels(std::nullopt, 0.7);
    EXPECT_EQ(races.size(), 1U) << "a second one would end after 0.8 s";
    EXPECT_FALSE(found.standing.complete);
    EXPECT_EQ(found.covers.path, chosen.path);
}

TEST_F(DuelsOfForms, WhatNormalAllowsThemIsSpentOnce) {
    make({{1.02e-3, 1e-3}, {1e-3, 1.03e-3}});
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, stored_form}, 6}, {{packed_form, packed_form}, 6}};
    preparing = std::chrono::milliseconds(400);
    Effort effort = effort_of(Mode::normal);
    effort.most_program_seconds = 0.7;
    const auto fought = [&](double seconds) {
        races.clear();
        return fight(chosen, programs.buckets(), run_beside(), options,
                     {seconds, {}, stop, usual_hang_seconds, effort}, {}, std::nullopt);
    };
    EXPECT_TRUE(fought(100).standing.complete);
    EXPECT_EQ(races.size(), 1U) << "a second one would end after 0.8 s";
    EXPECT_FALSE(fought(0.69).standing.complete) << "cut by the budget";
    effort.most_program_seconds = 100;
    EXPECT_TRUE(fought(101).standing.complete);
    EXPECT_EQ(races.size(), 2U);
}

TEST_F(DuelsOfForms, RunsOfWhichARaceHoldsTooFewAreLeft) {
    make({{0.204, 0.2}, {1e-3, 1.03e-3}});  // 16 runs take 3.2 s and more
    whole = {{{packed_form, stored_form}, 5}, {{stored_form, stored_form}, 4}};
    const Duels normal = duels();
    EXPECT_TRUE(races.empty());
    EXPECT_TRUE(normal.standing.complete && !normal.standing.is_thorough);
    EXPECT_EQ(packed(duels(normal.standing, 100, Mode::exhaustive).covers), (Packed{stored_form, stored_form}));
    EXPECT_FALSE(races.empty());
}

TEST_F(DuelsOfForms, WhoeverWonTheFirstRaceHasNotWonWithoutTheSecond) {
    make({{1.02e-3, 1e-3}});
    whole = {{{packed_form}, 5}, {{stored_form}, 4}};
    is_late = true;
    const Duels found = duels();
    EXPECT_EQ(races.size(), 2U);
    EXPECT_EQ(packed(found.covers), (Packed{packed_form}));
    for (const Duel& duel : found.fought) EXPECT_FALSE(duel.won);
}

TEST_F(DuelsOfForms, AStopEndsThem) {
    make({{1.02e-3, 1e-3}});
    whole = {{{packed_form}, 4}, {{stored_form}, 5}};
    std::stop_source source;
    source.request_stop();
    stop = source.get_token();
    EXPECT_THROW(duels(), Cancelled);
}

}  // namespace
}  // namespace cairn::tune
