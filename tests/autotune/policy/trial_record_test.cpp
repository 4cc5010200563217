#include "autotune/policy/trial_record.hpp"

#include "cairn/cairn.hpp"
#include "tests/selection/choose/bucket_set.hpp"
#include "tests/selection/choose/packed_product_fixture.hpp"

#include <gtest/gtest.h>

namespace cairn::autotune {
namespace {

TEST(TrialRecord, RoundTripsThroughText) {
    TrialRecord trial_record;
    trial_record.best = digest("best");
    EXPECT_EQ(parse_trial_record(to_string(trial_record)), trial_record);
    trial_record.complete = trial_record.is_thorough = true;
    trial_record.terms.only = {{1, "m@1", "exp | f32[] -> f32[]", "model.cpp:7"}, {1, "", "copy | p", ""}};
    trial_record.terms.without = {{0, "k@1", "linear | f32[T,64] -> f32[T,64] where T in 1..8", "model.cpp:31"},
                                  {2, "l", "p", ""}};
    trial_record.rejected = {digest("a"), digest("b")};
    EXPECT_EQ(parse_trial_record(to_string(trial_record)), trial_record);
}

TEST(TrialRecord, OtherTextIsRefused) {
    const std::string best = "best " + to_string(digest("x")) + "\n";
    for (const std::string& text : {std::string(), std::string("complete\n"), best + "complete", best + "without k\n",
                                    best + "only k\n", best + "beaten 12\n", best + "best\n", best + "\n",
                                    best + "beaten " + std::string(32, 'g') + "\n", "bets" + best})
        EXPECT_EQ(parse_trial_record(text), std::nullopt) << text;
    EXPECT_TRUE(parse_trial_record(best));
}

class TrialRecordTest : public selection::PackedProductFixture {
protected:
    void choose(double stored, double packed, double weight = 1, std::int64_t most = 8) {
        seconds_of = {{stored, packed}};
        programs.clear();
        Graph graph("g");
        const Dim columns = graph.symbol("N", 1, most);
        const Tensor x = graph.input("x", DType::f32, {1, 64});
        graph.output("y", matmul(x, graph.weight("w", DType::f32, {64, 64})));
        graph.output("z", exp(graph.input("u", DType::f32, {columns})));
        programs.add(graph, kernels, costs, weight);
        chosen = selection::select(programs.buckets(), options);
    }
    Digest name() const { return name_of(programs.buckets(), chosen, options); }

    selection::BucketSet programs;
    selection::Options options{.seconds_per_kept_byte = 0};
    selection::Selections chosen;
};

TEST_F(TrialRecordTest, DigestsDistinguishCoversSizesAndWeights) {
    choose(2e-3, 1e-3);
    const Digest packed = name();
    choose(2e-3, 1.5e-3);
    EXPECT_EQ(name(), packed);  // its cost is not part of the digest
    choose(2e-3, 1e-3, 2);
    EXPECT_NE(name(), packed);
    choose(2e-3, 1e-3, 1, 9);
    EXPECT_NE(name(), packed);
    choose(1e-3, 2e-3);
    EXPECT_NE(name(), packed);
    choose(2e-3, 1e-3);
    options.seconds_per_kept_byte = 1e-12;
    EXPECT_NE(name(), packed);
}

TEST_F(TrialRecordTest, TheKeyDoesNotDependOnMeasurements) {
    const auto key_of_options = [&] { return name_of(programs.buckets(), options); };
    choose(2e-3, 1e-3);
    const Digest key = key_of_options();
    choose(1e-3, 2e-3);
    EXPECT_EQ(key_of_options(), key);
    choose(1e-3, 2e-3, 2);
    EXPECT_NE(key_of_options(), key);
    choose(1e-3, 2e-3, 1, 9);
    EXPECT_NE(key_of_options(), key);
    choose(1e-3, 2e-3);
    options.seconds_per_kept_byte = 1e-12;
    EXPECT_NE(key_of_options(), key);
    options.seconds_per_kept_byte = 0;
    programs.clear();
    Graph graph("g");
    graph.output("z", exp(graph.input("u", DType::f32, {graph.symbol("N", 1, 8)})));
    programs.add(graph, kernels, costs, 1);
    EXPECT_NE(key_of_options(), key);
}

TEST_F(TrialRecordTest, ContainsTheBestAndTheRejected) {
    TrialRecord trial_record;
    trial_record.best = digest("a");
    trial_record.rejected = {digest("b"), digest("c")};
    for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(is_known(trial_record, digest(name)));
    EXPECT_FALSE(is_known(trial_record, digest("d")));
}

TEST_F(TrialRecordTest, TheBestCoverIsFoundIfItExists) {
    choose(2e-3, 1e-3);
    TrialRecord trial_record;
    trial_record.best = name();
    const auto same = best_of(trial_record, chosen, programs.buckets(), options);
    ASSERT_TRUE(same);
    EXPECT_EQ(same->path, chosen.path);
    for (const selection::CallKindSeconds& each : selection::call_kinds_by_time(programs.buckets(), chosen))
        if (each.kind.problem.starts_with("matmul")) trial_record.terms.without.push_back(each.kind);
    ASSERT_EQ(trial_record.terms.without.size(), 1U);
    EXPECT_FALSE(best_of(trial_record, chosen, programs.buckets(), options)) << "another name";
    const auto stored = selection::cheapest_covers_under(trial_record.terms, chosen, programs.buckets(), options);
    ASSERT_TRUE(stored);
    trial_record.best = name_of(programs.buckets(), *stored, options);
    const auto best = best_of(trial_record, chosen, programs.buckets(), options);
    ASSERT_TRUE(best);
    EXPECT_EQ(best->path, stored->path);
}

}  // namespace
}  // namespace cairn::autotune
