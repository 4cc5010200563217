#include "tune/rivals.hpp"

#include "cairn/cairn.hpp"
#include "device/context_parts.hpp"
#include "tests/timing/took.hpp"
#include "tests/tune/fake_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace cairn::tune {
namespace {

class RivalsOfAChoice : public testing::Test {
protected:
    RivalsOfAChoice() {
        Graph g("product");
        const Dim n = g.symbol("N", 1, 64);
        g.output("y", softmax(matmul(g.input("x", DType::f32, {n, 64}), g.weight("w", DType::f32, {64, 96}))));
        tuning.emplace(g, context, std::vector<Split>{{"N", {1}}});
        chosen = tuning->untuned();
        count_with_times();
    }
    void count_with_times() {
        for (const select::Bucket& bucket : tuning->selected) bucket.candidates.set_costs(tuning->costs);
    }
    std::vector<Rivals> rivals() {
        return unknown_rivals(tuning->selected, chosen, tuning->costs, context.kernels().definitions, {});
    }
    void store(const Call& call, double seconds) {
        context.parts()->timings->record(call.problem, call.kernel->id, tuning->costs.environment, tuning->costs.policy,
                                         test::took(seconds));
    }
    select::Estimate estimate(const timing::Contestant& contestant) const {
        return select::estimate(*contestant.kernel, *contestant.problem, tuning->costs);
    }

    Context context;
    std::optional<test::FakeTuning> tuning;
    select::Selections chosen;
};

TEST_F(RivalsOfAChoice, AreAllThatMakeTheSameAtTheSameSizes) {
    const std::vector<Rivals> all = rivals();
    std::set<std::string> first;
    for (const Rivals& each : all) {
        EXPECT_TRUE(each.calls.front().chosen);
        first.insert(select::name_of_call(*each.calls.front().kernel, each.calls.front().problem));
        for (std::size_t i = 1; i < each.calls.size(); ++i) {
            EXPECT_FALSE(each.calls[i].chosen);
            EXPECT_TRUE(each.calls[i].time);
            EXPECT_EQ(each.calls[i].problem.definition, each.calls.front().problem.definition);
            EXPECT_EQ(each.calls[i].problem.outputs, each.calls.front().problem.outputs);
        }
    }
    EXPECT_EQ(first, calls_of(tuning->selected, chosen)) << "each of them once";
    const auto product = std::find_if(
        all.begin(), all.end(), [](const Rivals& each) { return each.calls.front().problem.definition == "matmul"; });
    ASSERT_NE(product, all.end());
    EXPECT_GE(product->calls.size(), 3U);
}

TEST_F(RivalsOfAChoice, BucketsTakeTurnsAndLargeStakesComeFirst) {
    const std::vector<Rivals> all = rivals();
    EXPECT_NE(all[0].bucket, all[1].bucket);
    for (const std::size_t bucket : {0U, 1U}) {
        std::vector<double> stakes;
        for (const Rivals& each : all)
            if (each.bucket == bucket) stakes.push_back(each.at_stake);
        EXPECT_TRUE(std::is_sorted(stakes.rbegin(), stakes.rend()));
    }
}

TEST_F(RivalsOfAChoice, WhatIsKnownIsNotMeasuredAgainButIsToBeBeaten) {
    const std::vector<Rivals> all = rivals();
    const auto most = std::max_element(
        all.begin(), all.end(), [](const Rivals& a, const Rivals& b) { return a.calls.size() < b.calls.size(); });
    EXPECT_TRUE(std::isinf(field_of(*most, tuning->costs).to_beat));
    const std::size_t before = field_of(*most, tuning->costs).contestants.size();
    store(most->calls.back(), 5);
    Field field = field_of(*most, tuning->costs);
    EXPECT_EQ(field.to_beat, 5);
    EXPECT_LE(field.contestants.size(), before);
    Timing better = test::took(1e-12);
    better.samples = 9;
    context.parts()->timings->record(most->calls.back().problem, most->calls.back().kernel->id,
                                     tuning->costs.environment, tuning->costs.policy, better);
    field = field_of(*most, tuning->costs);
    ASSERT_EQ(field.contestants.size(), 1U) << "none can be faster; the chosen one is on a path";
    EXPECT_EQ(field.contestants[0].kernel, most->calls.front().kernel);
    EXPECT_EQ(field.contestants[0].at_least, 0);
    store(most->calls.front(), 1);
    EXPECT_EQ(rivals().size(), all.size() - 1);
}

TEST_F(RivalsOfAChoice, TheLikeliestRunFirstAndNoneThatCannotWin) {
    for (const Rivals& each : rivals()) {
        const Field field = field_of(each, tuning->costs);
        double least_high = std::numeric_limits<double>::infinity(), last = 0;
        for (const timing::Contestant& contestant : field.contestants) {
            const select::Estimate expected = estimate(contestant);
            EXPECT_GE(expected.seconds, std::exchange(last, expected.seconds));
            least_high = std::min(least_high, expected.high);
        }
        for (const timing::Contestant& contestant : field.contestants)
            if (contestant.at_least > 0) {
                EXPECT_EQ(contestant.at_least, estimate(contestant).low);
                EXPECT_LT(contestant.at_least, least_high);
            }
    }
}

TEST_F(RivalsOfAChoice, WhatWasMeasuredShowsOfItsSiblings) {
    EXPECT_TRUE(shown_by(tuning->selected, tuning->costs).own.empty());
    const std::vector<Rivals> all = rivals();
    const Call& call = all.front().calls.front();
    const double roofline = select::roofline_seconds(*call.kernel, call.problem, tuning->costs);
    for (const Rivals& each : all)
        if (each.calls.front().kernel == call.kernel)
            store(each.calls.front(),
                  3 * select::roofline_seconds(*call.kernel, each.calls.front().problem, tuning->costs));
    EXPECT_GT(roofline, 0);
    count_with_times();
    const select::Siblings shown = shown_by(tuning->selected, tuning->costs).own;
    EXPECT_GT(shown.of(*call.kernel).factor, 1.5);
    EXPECT_LT(shown.of(*call.kernel).factor, 3);
}

}  // namespace
}  // namespace cairn::tune
