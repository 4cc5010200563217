#include "graph/ir/op_table.hpp"
#include "tests/long_fuzz/check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::test {
namespace {

// Sharded, so that the shards run in parallel. The program long_fuzz does the same for any number of graphs.
class LongFuzz : public testing::TestWithParam<int> {};

TEST_P(LongFuzz, GraphsEqualTheInterpreterWithAllOptions) {
    constexpr std::uint64_t graphs = 240, shards = 8;
    const auto sets = option_sets(8, 3);
    for (auto seed = static_cast<std::uint64_t>(GetParam()); seed < graphs; seed += shards) {
        const Graph graph = fuzz_graph(seed);
        const Trial trial = fuzz_trial(seed, 3);
        for (const OptionSet& set : sets)
            ASSERT_EQ(fault_of(graph, trial, set), "") << "seed " << seed << ", " << set.name << '\n'
                                                       << to_string(graph);
    }
}

INSTANTIATE_TEST_SUITE_P(Shards, LongFuzz, testing::Range(0, 8));

class RoundTrips : public testing::TestWithParam<int> {};

TEST_P(RoundTrips, GiveEqualBitsAfterLoading) {
    constexpr std::uint64_t graphs = 400, shards = 4;
    const auto contexts = context_pairs(2);
    for (auto seed = static_cast<std::uint64_t>(GetParam()); seed < graphs; seed += shards) {
        const Graph graph = round_trip_graph(seed);
        ASSERT_EQ(fault_of_round_trip(graph, fuzz_trial(seed, 3), contexts), "") << "seed " << seed << '\n'
                                                                                 << to_string(graph);
    }
}

INSTANTIATE_TEST_SUITE_P(Shards, RoundTrips, testing::Range(0, 4));

/// Regression tests by seed: matches whose definition is not in the normal form of a graph that was not simplified;
/// buckets whose sizes exceed the capacity of a state; and a bucket above one with many equal steps, which the
/// selection omitted.
TEST(RoundTrips, HoldForSeedsOfEarlierFaults) {
    const auto contexts = context_pairs(2);
    for (const std::uint64_t seed : {770u, 908u, 1331u, 100330u, 103479u, 1340u, 105346u}) {
        const Graph graph = round_trip_graph(seed);
        EXPECT_EQ(fault_of_round_trip(graph, fuzz_trial(seed, 3), contexts), "") << "seed " << seed;
    }
}

std::int64_t count(const Graph& graph, ir::Op op) {
    const auto& nodes = graph.data()->nodes();
    return std::count_if(nodes.begin(), nodes.end(), [&](const ir::Node& node) { return node.op == op; });
}

TEST(LongFuzzShrinks, ToAGraphThatShowsTheFault) {
    const auto is_faulty = [](const Graph& graph) { return count(graph, ir::Op::tanh) > 0; };
    int shrinks = 0;
    for (std::uint64_t seed = 0; seed < 160; ++seed) {
        const Graph graph = fuzz_graph(seed);
        if (!graph.data()->states().empty()) continue;
        const auto live = ir::live_nodes(*graph.data());
        const auto& nodes = graph.data()->nodes();
        bool has = false;
        for (std::size_t i = 0; i < nodes.size(); ++i) has = has || (nodes[i].op == ir::Op::tanh && live[i]);
        if (!has) continue;
        const Graph small = shrunk(graph, is_faulty);
        EXPECT_EQ(count(small, ir::Op::tanh), 1) << to_string(small);
        EXPECT_EQ(small.data()->outputs().size(), 1u);
        ++shrinks;
    }
    EXPECT_GT(shrinks, 5);
}

}  // namespace
}  // namespace cairn::test
