#include "autotune/measurement/successive_elimination.hpp"

#include "autotune/measurement/splitmix.hpp"
#include "tests/autotune/measurement/synthetic_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace cairn::autotune {
namespace {

using test::SyntheticClock;

/// The usual method as a baseline: the candidates one after another, each once untimed, then ten blocks; the mean
/// ranks.
int by_mean_of_ten(SyntheticClock& clock, int candidates, double block_seconds) {
    std::vector<double> means;
    for (int e = 0; e < candidates; ++e) {
        double block = clock.time(e, 1);
        if (block < 10 * block_seconds) block = clock.time(e, 1);
        std::int64_t inner = 1;
        for (; block < block_seconds; block = clock.time(e, inner)) inner *= 2;
        double sum = 0;
        for (int i = 0; i < 10; ++i) sum += clock.time(e, inner) / static_cast<double>(inner);
        means.push_back(sum / 10);
    }
    return static_cast<int>(std::min_element(means.begin(), means.end()) - means.begin());
}

struct MethodResult {
    double regret = 0, seconds = 0;
};

struct Comparison {
    MethodResult elimination, mean_of_ten;
    int runs = 0;

    std::string text() const {
        return "regret " + std::to_string(100 * elimination.regret) + " % in " + std::to_string(elimination.seconds) +
               " s; by the mean of ten " + std::to_string(100 * mean_of_ten.regret) + " % in " +
               std::to_string(mean_of_ten.seconds) + " s; " + std::to_string(runs) + " races";
    }
};

/// Eliminations among 2..8 candidates whose times are spread evenly, in logarithms, between `shortest` and `spread`
/// times as much.
Comparison compared(double shortest, double spread) {
    Comparison all;
    std::uint64_t state = 7;
    for (int candidates = 2; candidates <= 8; ++candidates)
        for (int repeat = 0; repeat < 60; ++repeat) {
            std::vector<double> lengths;
            for (int e = 0; e < candidates; ++e)
                lengths.push_back(shortest * std::pow(spread, static_cast<double>(splitmix64(state) >> 11) * 0x1p-53));
            const std::uint64_t seed = splitmix64(state);
            SyntheticClock clock(lengths, {}, seed), other(lengths, {}, seed);
            EliminationOptions options;
            options.seconds = 1;
            options.seed = seed;
            const EliminationResult result = elimination(candidates, clock.timer(), options);
            EXPECT_DOUBLE_EQ(result.seconds, clock.now());
            all.elimination.regret += clock.regret(result.winner);
            all.elimination.seconds += clock.now();
            all.mean_of_ten.regret += other.regret(by_mean_of_ten(other, candidates, options.block_seconds));
            all.mean_of_ten.seconds += other.now();
            ++all.runs;
        }
    for (MethodResult* figures : {&all.elimination, &all.mean_of_ten}) figures->regret /= all.runs;
    return all;
}

TEST(SuccessiveElimination, FindsTheFastestInAQuarterOfTheTimeOfAMeanOfTen) {
    const Comparison all = compared(2e-3, 10);
    std::printf("runs of 2..20 ms: %s\n", all.text().c_str());
    EXPECT_LE(all.elimination.regret, 0.005);
    EXPECT_LE(all.elimination.seconds, all.mean_of_ten.seconds / 4);
}

TEST(SuccessiveElimination, ShortRunsNeedAThirdOfTheTimeOfAMeanOfTen) {
    const Comparison all = compared(2e-5, 10);
    std::printf("runs of 20..200 us: %s\n", all.text().c_str());
    EXPECT_LE(all.elimination.regret, 0.005);
    EXPECT_LE(all.elimination.seconds, all.mean_of_ten.seconds / 3);
}

TEST(SuccessiveElimination, CloseCandidatesCostMoreAndLoseLittle) {
    const Comparison all = compared(2e-3, 1.05);
    std::printf("within 5 %%: %s\n", all.text().c_str());
    EXPECT_LE(all.elimination.regret, 0.0025);
    EXPECT_LE(all.elimination.regret, all.mean_of_ten.regret / 2);
    EXPECT_LE(all.elimination.seconds, all.mean_of_ten.seconds);
}

TEST(SuccessiveElimination, DriftDoesNotDecideTheWinner) {
    // The machine slows down by 1 % with each block; later candidates are faster by 2 %.
    std::vector<double> lengths = {1.04, 1.02, 1};
    double speed = 1;
    const auto time = [&](int e, std::int64_t) {
        return 1e-3 * lengths[static_cast<std::size_t>(e)] * (speed *= 1.01);
    };
    const EliminationResult result = elimination(3, time, {.seconds = 10});
    EXPECT_EQ(result.winner, 2);
    EXPECT_NEAR(result.candidates[0].ratio, 1.04, 0.012);
}

TEST(SuccessiveElimination, EachRepetitionTimesAllCandidatesInRandomOrder) {
    std::vector<int> order;
    const auto time = [&](int e, std::int64_t) { return order.push_back(e), 1e-3; };
    const EliminationResult result = elimination(3, time, {.seconds = 10, .indifference = 0, .max_rounds = 4});
    ASSERT_EQ(order.size(), 3U + 3 * (1 + 2 + 4 + 8));
    std::set<std::vector<int>> orders;
    for (auto at = order.begin() + 3; at != order.end(); at += 3) {
        EXPECT_TRUE(std::is_permutation(at, at + 3, std::vector<int>{0, 1, 2}.begin()));
        orders.insert(std::vector<int>(at, at + 3));
    }
    EXPECT_GE(orders.size(), 4U);
    EXPECT_FALSE(result.decided) << "they are equal";
    EXPECT_EQ(result.candidates[0].timing.samples, 15);
}

TEST(SuccessiveElimination, IntervalsContainTheTrueRatio) {
    int inside = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        SyntheticClock clock({1e-3, 1.01e-3}, {}, seed);
        const EliminationResult result =
            elimination(2, clock.timer(), {.seconds = 10, .indifference = 0, .max_rounds = 5, .seed = seed});
        const CandidateResult& other = result.candidates[static_cast<std::size_t>(1 - result.winner)];
        const double truth = result.winner == 0 ? 1.01 : 1 / 1.01;
        EXPECT_LT(other.low, other.ratio);
        EXPECT_LT(other.ratio, other.high);
        inside += other.low <= truth && truth <= other.high;
    }
    EXPECT_GE(inside, 368) << "at 95 %";
    EXPECT_LE(inside, 399);
}

TEST(SuccessiveElimination, ADisturbedFirstBlockEliminatesNoCandidate) {
    std::map<int, int> calls;
    const auto time = [&](int e, std::int64_t) { return e == 0 ? 1.1e-3 : ++calls[e] == 2 ? 4e-3 : 1e-3; };
    EXPECT_EQ(elimination(2, time, {}).winner, 1);
    const auto slow = [&](int e, std::int64_t) { return e == 0 ? 1e-3 : (++calls[e], 4e-3); };
    calls.clear();
    const EliminationResult result = elimination(2, slow, {});
    EXPECT_EQ(calls[1], 2) << "once untimed and once timed";
    EXPECT_EQ(result.candidates[1].status, CandidateStatus::slower);
    EXPECT_TRUE(result.decided);
}

TEST(SuccessiveElimination, ALoneCandidateIsTimedThreeTimesOrOnceIfBeaten) {
    const auto time = [](int e, std::int64_t) { return e == 0 ? 1e-3 : 4e-3; };
    EXPECT_EQ(elimination(1, time, {}).candidates[0].timing.samples, 3);
    const EliminationResult both = elimination(2, time, {});
    EXPECT_EQ(both.candidates[0].timing.samples, 3);
    EXPECT_EQ(both.candidates[1].timing.samples, 1);
    const EliminationResult beaten = elimination(2, time, {.incumbent_seconds = 5e-4});
    EXPECT_EQ(beaten.winner, -1) << "neither";
    EXPECT_EQ(beaten.candidates[0].status, CandidateStatus::slower);
    EXPECT_EQ(beaten.candidates[0].timing.samples, 1);
    EXPECT_EQ(elimination(1, time, {.incumbent_seconds = 8e-4}).candidates[0].timing.samples, 3)
        << "not grossly slower";
}

TEST(SuccessiveElimination, IndifferentCandidatesAreNotSeparated) {
    const auto time = [](int e, std::int64_t) { return e == 0 ? 1e-3 : 1.001e-3; };
    const EliminationResult result = elimination(2, time, {.seconds = 10});
    EXPECT_EQ(result.winner, 0);
    EXPECT_EQ(result.candidates[1].status, CandidateStatus::indifferent);
    EXPECT_FALSE(result.decided);
    EXPECT_LT(result.expected_loss, 0.005);
    EXPECT_TRUE(elimination(2, time, {.seconds = 10, .indifference = 1e-5, .noise = 1e-6}).decided);
}

TEST(SuccessiveElimination, ABlockHasEnoughRunsForTheClock) {
    std::int64_t most = 0;
    const auto time = [&](int, std::int64_t inner) {
        most = std::max(most, inner);
        return 1e-8 * static_cast<double>(inner);
    };
    const EliminationResult result = elimination(1, time, {.block_seconds = 1e-4});
    EXPECT_GE(most, 10000);
    EXPECT_LE(most, 20000);
    EXPECT_EQ(result.candidates[0].timing.inner, most);
    EXPECT_NEAR(result.candidates[0].timing.median, 1e-8, 1e-12);
}

TEST(SuccessiveElimination, StaysWithinTheBudget) {
    const auto time = [](int e, std::int64_t inner) { return (e == 1 ? 3.0 : 1e-2) * static_cast<double>(inner); };
    for (const double seconds : {0.1, 0.3, 3.2}) {
        const EliminationResult result = elimination(3, time, {.seconds = seconds});
        EXPECT_LE(result.seconds, std::max(seconds, 3.01)) << "a run is not cut, but no second one begins";
        EXPECT_EQ(result.candidates[1].timing.status, TimingStatus::censored);
        EXPECT_EQ(result.candidates[1].timing.bound, 3);
        EXPECT_EQ(result.candidates[1].status, CandidateStatus::untimed);
    }
    const EliminationResult early = elimination(3, time, {.seconds = 0.1});
    EXPECT_EQ(early.candidates[2].timing.bound, 0) << "it was never run";
    EXPECT_EQ(early.winner, -1);
    EXPECT_EQ(elimination(3, time, {.seconds = 3.2}).winner, 0);
}

TEST(SuccessiveElimination, NoCandidatesAndErrors) {
    const auto throws = [](int e, std::int64_t) -> double {
        if (e == 1) throw std::runtime_error("boom");
        return 1e-3;
    };
    EXPECT_EQ(elimination(0, throws, {}).winner, -1);
    EXPECT_EQ(elimination(1, throws, {}).winner, 0);
    EXPECT_TRUE(elimination(1, throws, {}).decided);
    EXPECT_THROW(elimination(2, throws, {}), std::runtime_error);
    EXPECT_FALSE(elimination(2, [](int, std::int64_t) { return 0.0; }, {}).decided) << "a clock that stands still";
}

}  // namespace
}  // namespace cairn::autotune
