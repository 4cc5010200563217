#include "cairn/cairn.hpp"
#include "cairn/models/gpt2.hpp"
#include "driver/stages.hpp"
#include "selection/choose/memo.hpp"
#include "selection/search/decomposition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

/// Measured times are noisy; the layouts of a model's kept weights are nevertheless chosen well.
namespace cairn {
namespace {

/// Multiplies the cost of each kernel by a random factor, mostly within e^0.3 of 1; the same factor in all layers, or a
/// different one in each.
void make_noisy(selection::Memo& memo, unsigned seed, bool in_each_layer) {
    for (int choice = 0; choice < memo.problem.alternatives(); ++choice) {
        const selection::Candidate& candidate = memo.candidate(choice);
        if (candidate.kernel == nullptr) continue;
        const int bucket = memo.goals[static_cast<std::size_t>(memo.problem.goal_of(choice))].bucket;
        const std::string name = candidate.kernel->id + to_string(*candidate.problem) + std::to_string(bucket) +
                                 (in_each_layer ? std::to_string(choice) : "");
        unsigned hash = seed;
        for (const char letter : name) hash = hash * 16777619U ^ static_cast<unsigned char>(letter);
        std::mt19937 random(hash);
        // The sum of twelve uniform numbers is nearly normal, and equal with all standard libraries.
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += static_cast<double>(random()) / 4294967296.0;
        memo.problem.set_cost(choice, memo.problem.cost(choice) * std::exp(0.3 * sum));
    }
}

class NoisySelectionTest : public testing::TestWithParam<int> {};

TEST_P(NoisySelectionTest, IsNearlyOptimal) {
    const Context context;
    models::Gpt2Config config;
    config.layers = 12;
    const Graph graph = models::gpt2_graph(config, models::gpt2_weights(config));
    CompileOptions options;
    options.splits = {{"T", {1, 12}}};
    driver::Stages stages(graph, context, options);
    std::vector<driver::PreparedBucket> prepared = stages.prepare();
    const std::vector<selection::Bucket> buckets = driver::selection_buckets(prepared);
    selection::Memo memo = selection::memo_of(buckets, selection::Breadth::cheapest);
    ASSERT_EQ(search::fault_of_decomposition(memo.problem, memo.subproblem_of), "");
    const auto seed = static_cast<unsigned>(GetParam());
    make_noisy(memo, seed, seed % 2 == 1);
    const search::Exploration together = search::explore(memo.problem);
    const search::Exploration found = search::explore_decomposed(memo.problem, memo.subproblem_of);
    ASSERT_EQ(found.status, search::Status::found);
    const double cost = found.dag.cost(found.paths);
    const std::vector<int> path = found.dag.cheapest(found.paths).choices;
    double sum = 0;
    for (const int choice : path) sum += memo.problem.cost(choice);
    EXPECT_NEAR(sum, cost, 1e-9 * cost);
    EXPECT_LE(cost, together.dag.cost(together.paths) * (1 + 1e-12));
    if (!found.exact) {
        EXPECT_LE(found.low, cost);
        EXPECT_LE(cost, found.low * 1.001) << "no covers cost less than the lower of the two";
    }
    RecordProperty("exact", found.exact ? 1 : 0);
    RecordProperty("exact_together", together.exact ? 1 : 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, NoisySelectionTest, testing::Range(0, 12));

}  // namespace
}  // namespace cairn
