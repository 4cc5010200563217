#include "autotune/policy/paired_trial.hpp"

#include "cairn/cairn.hpp"
#include "selection/choose/challenger_covers.hpp"
#include "tests/autotune/policy/prepared.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <thread>

namespace cairn::autotune {
namespace {

std::multiset<std::int64_t> slow_calls;  // the number of rows of each
int slow_milliseconds = 0;

/// A product kernel whose estimate is the fastest and whose speed is set by slow_milliseconds.
Kernel slow_product() {
    Kernel kernel;
    kernel.id = "test.slow.mul@1";
    kernel.definition = "mul";
    kernel.accepts = [](const Problem&) -> Refusal { return {}; };
    kernel.cost = [](const Problem&) -> Cost { return {1, 1, 1}; };
    kernel.run = [](const Args& args, Team& team) {
        if (team.rank() != 0) return;
        slow_calls.insert(args.inputs[0].shape[0]);
        std::this_thread::sleep_for(std::chrono::milliseconds(slow_milliseconds));
    };
    return kernel;
}

/// A product in two buckets, and a challenger with another kernel in the second bucket.
class PairedTrialTest : public testing::Test {
protected:
    PairedTrialTest() : prepared(graph(), context(), options()) {
        slow_calls.clear();
        slow_milliseconds = 5;
        best = prepared.choose(select_options);
        for (const selection::CallKindSeconds& each : selection::call_kinds_by_time(prepared.buckets, best))
            if (each.kind.bucket == 1 && each.kind.kernel == slow_product().id)
                challenger =
                    selection::cheapest_covers_under({{each.kind}, {}}, best, prepared.buckets, select_options);
    }
    static Graph graph() {
        Graph g("g");
        const Dim n = g.symbol("N", 1, 4096);
        g.output("y", g.input("x", DType::f32, {n, 64}) * g.weight("w", DType::f32, {1, 64}));
        return g;
    }
    static Context context() {
        ContextOptions options;
        options.extra.kernels = {slow_product()};
        return Context(options);
    }
    static CompileOptions options() {
        CompileOptions options;
        options.splits = {{"N", {16}}};
        return options;
    }
    PairedTrial paired_trial() {
        made.clear();
        return {prepared.buckets, best, *challenger,
                [&](std::size_t bucket, const selection::Selection& cover) {
                    made.push_back(bucket);
                    return prepared.program_of(bucket, cover);
                },
                select_options};
    }

    test::PreparedGraph prepared;
    selection::Options select_options;
    selection::Selections best;
    std::optional<selection::Selections> challenger;
    std::vector<std::size_t> made;
};

TEST_F(PairedTrialTest, RunsOnlyDifferentBuckets) {
    ASSERT_TRUE(challenger);
    const PairedTrial both = paired_trial();
    EXPECT_EQ(made, (std::vector<std::size_t>{1, 1}));
    EXPECT_TRUE(both.fit_in_memory(prepared.context));
    const autotune::EliminationResult result = both.run(prepared.context, 0.5, 1);
    EXPECT_EQ(result.winner, 1);
    ASSERT_EQ(result.candidates.size(), 2U);
    EXPECT_EQ(result.candidates[0].status, autotune::CandidateStatus::slower);
    EXPECT_FALSE(slow_calls.empty());
    EXPECT_GT(*slow_calls.begin(), 16) << "sizes of the first bucket";
    EXPECT_GT(std::set<std::int64_t>(slow_calls.begin(), slow_calls.end()).size(), 1U) << "one size alone";
}

TEST_F(PairedTrialTest, IncludesTheCostOfKeptBytes) {
    ASSERT_TRUE(challenger);
    challenger->kept_price = best.kept_price + 50e-3;
    EXPECT_EQ(paired_trial().run(prepared.context, 0.5, 1).winner, 0);
    slow_calls.clear();
    challenger->kept_price = best.kept_price - 50e-3;
    slow_milliseconds = 0;
    EXPECT_EQ(paired_trial().run(prepared.context, 0.5, 1).winner, 1);
}

TEST_F(PairedTrialTest, TheBudgetCountsTheTimeOfAllSizes) {
    ASSERT_TRUE(challenger);
    slow_milliseconds = 20;
    const autotune::EliminationResult result = paired_trial().run(prepared.context, 0.5, 1);
    EXPECT_GE(result.seconds, 0.02 * static_cast<double>(slow_calls.size())) << "the mean of three sizes is less";
    EXPECT_LE(slow_calls.size(), 28U) << "25 and a first run at each size";
}

TEST_F(PairedTrialTest, AStopRequestEndsATrial) {
    ASSERT_TRUE(challenger);
    std::stop_source source;
    select_options.stop = source.get_token();
    const PairedTrial both = paired_trial();
    source.request_stop();
    EXPECT_THROW(both.run(prepared.context, 0.5, 1), Cancelled);
}

}  // namespace
}  // namespace cairn::autotune
