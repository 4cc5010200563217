#include "autotune/policy/tuning_tasks.hpp"

#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"
#include "tests/autotune/database/took.hpp"
#include "tests/autotune/policy/fake_measurer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace cairn::autotune {
namespace {

class TuningTasksTest : public testing::Test {
protected:
    TuningTasksTest() {
        Graph g("product");
        const Dim n = g.symbol("N", 1, 64);
        g.output("y", softmax(matmul(g.input("x", DType::f32, {n, 64}), g.weight("w", DType::f32, {64, 96}))));
        tuning.emplace(g, context, std::vector<Split>{{"N", {1}}});
        chosen = tuning->untuned();
        count_with_times();
    }
    void count_with_times() {
        for (const selection::Bucket& bucket : tuning->selected) bucket.candidates.set_costs(tuning->costs);
    }
    std::vector<TuningTask> task() {
        return unmeasured_tasks(tuning->selected, chosen, tuning->costs, context.kernels().definitions, {});
    }
    void store(const CandidateCall& call, double seconds) {
        context.impl()->timings->record(call.problem, call.kernel->id, tuning->costs.environment, tuning->costs.policy,
                                        test::took(seconds));
    }
    selection::Estimate estimate(const autotune::BenchmarkCandidate& candidate) const {
        return selection::estimate(*candidate.kernel, *candidate.problem, tuning->costs);
    }

    Context context;
    std::optional<test::FakeTuning> tuning;
    selection::Selections chosen;
};

TEST_F(TuningTasksTest, ContainAllCallsOfTheSameValueAndSizes) {
    const std::vector<TuningTask> all = task();
    std::set<std::string> first;
    for (const TuningTask& each : all) {
        EXPECT_TRUE(each.calls.front().chosen);
        first.insert(selection::call_key(*each.calls.front().kernel, each.calls.front().problem));
        for (std::size_t i = 1; i < each.calls.size(); ++i) {
            EXPECT_FALSE(each.calls[i].chosen);
            EXPECT_TRUE(each.calls[i].time);
            EXPECT_EQ(each.calls[i].problem.definition, each.calls.front().problem.definition);
            EXPECT_EQ(each.calls[i].problem.outputs, each.calls.front().problem.outputs);
        }
    }
    EXPECT_EQ(first, calls_of(tuning->selected, chosen)) << "each of them once";
    const auto product = std::find_if(all.begin(), all.end(), [](const TuningTask& each) {
        return each.calls.front().problem.definition == "matmul";
    });
    ASSERT_NE(product, all.end());
    EXPECT_GE(product->calls.size(), 3U);
}

TEST_F(TuningTasksTest, AlternateBetweenBucketsByPotentialGain) {
    const std::vector<TuningTask> all = task();
    EXPECT_NE(all[0].bucket, all[1].bucket);
    for (const std::size_t bucket : {0U, 1U}) {
        std::vector<double> stakes;
        for (const TuningTask& each : all)
            if (each.bucket == bucket) stakes.push_back(each.potential_gain);
        EXPECT_TRUE(std::is_sorted(stakes.rbegin(), stakes.rend()));
    }
}

TEST_F(TuningTasksTest, KnownTimesAreTheIncumbentAndNotMeasuredAgain) {
    const std::vector<TuningTask> all = task();
    const auto most = std::max_element(all.begin(), all.end(), [](const TuningTask& a, const TuningTask& b) {
        return a.calls.size() < b.calls.size();
    });
    EXPECT_TRUE(std::isinf(candidates_of(*most, tuning->costs).incumbent_seconds));
    const std::size_t before = candidates_of(*most, tuning->costs).candidates.size();
    store(most->calls.back(), 5);
    CandidateSet candidate_set = candidates_of(*most, tuning->costs);
    EXPECT_EQ(candidate_set.incumbent_seconds, 5);
    EXPECT_LE(candidate_set.candidates.size(), before);
    Timing better = test::took(1e-12);
    better.samples = 9;
    context.impl()->timings->record(most->calls.back().problem, most->calls.back().kernel->id,
                                    tuning->costs.environment, tuning->costs.policy, better);
    candidate_set = candidates_of(*most, tuning->costs);
    ASSERT_EQ(candidate_set.candidates.size(), 1U) << "none can be faster; the chosen one is on a path";
    EXPECT_EQ(candidate_set.candidates[0].kernel, most->calls.front().kernel);
    EXPECT_EQ(candidate_set.candidates[0].lower_bound, 0);
    store(most->calls.front(), 1);
    EXPECT_EQ(task().size(), all.size() - 1);
}

TEST_F(TuningTasksTest, OrderCandidatesByExpectedTimeWithoutHopelessOnes) {
    for (const TuningTask& each : task()) {
        const CandidateSet candidate_set = candidates_of(each, tuning->costs);
        double least_high = std::numeric_limits<double>::infinity(), last = 0;
        for (const autotune::BenchmarkCandidate& candidate : candidate_set.candidates) {
            const selection::Estimate expected = estimate(candidate);
            EXPECT_GE(expected.seconds, std::exchange(last, expected.seconds));
            least_high = std::min(least_high, expected.high);
        }
        for (const autotune::BenchmarkCandidate& candidate : candidate_set.candidates)
            if (candidate.lower_bound > 0) {
                EXPECT_EQ(candidate.lower_bound, estimate(candidate).low);
                EXPECT_LT(candidate.lower_bound, least_high);
            }
    }
}

TEST_F(TuningTasksTest, MeasuredTimesAreTransferredToSiblings) {
    EXPECT_TRUE(learned_from(tuning->selected, tuning->costs).own.empty());
    const std::vector<TuningTask> all = task();
    const CandidateCall& call = all.front().calls.front();
    const double roofline = selection::roofline_seconds(*call.kernel, call.problem, tuning->costs);
    for (const TuningTask& each : all)
        if (each.calls.front().kernel == call.kernel)
            store(each.calls.front(),
                  3 * selection::roofline_seconds(*call.kernel, each.calls.front().problem, tuning->costs));
    EXPECT_GT(roofline, 0);
    count_with_times();
    const selection::TimingTransfer learned = learned_from(tuning->selected, tuning->costs).own;
    EXPECT_GT(learned.of(*call.kernel).factor, 1.5);
    EXPECT_LT(learned.of(*call.kernel).factor, 3);
}

}  // namespace
}  // namespace cairn::autotune
