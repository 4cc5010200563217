#include "selection/search/decomposition.hpp"

#include "tests/selection/search/random_decomposition.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::search::test {
namespace {

TEST(Decomposition, CheapestPathsAreThoseOfTheJointProblem) {
    expect_the_cheapest(
        [](const DecomposedProblem& decomposed) {
            return explore_decomposed(decomposed.problem, decomposed.subproblem_of);
        },
        [](const Exploration& whole) { return whole.status; });
}

TEST(Decomposition, IsUsedIfTheJointProblemIsTooLarge) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const auto [problem, subproblem_of] = layers_of_forms(seed, 4, 5, 4, 3);
        ASSERT_EQ(fault_of_decomposition(problem, subproblem_of), "");
        const Exploration together = explore(problem);
        ASSERT_EQ(together.status, Status::found);
        EXPECT_FALSE(together.exact);
        const Exploration apart = explore_decomposed(problem, subproblem_of);
        ASSERT_EQ(apart.status, Status::found);
        EXPECT_TRUE(apart.exact) << "seed " << seed;
        const Path path = apart.dag.cheapest(apart.paths);
        EXPECT_TRUE(is_path(problem, path.choices));
        EXPECT_LE(path.cost, together.dag.cost(together.paths));
        // Weights are independent: the optimum of the whole is the sum of their optima.
        double least = 0;
        for (int goal = 0; goal < problem.goals(); goal += 5 * 4 + 3 * 5)
            for (int weight = 0; weight < 5; ++weight) {
                double best = 1e9;
                for (int kept = 1; kept < 1 << 4; ++kept) {
                    double cost = 0;
                    for (int form = 0; form < 4; ++form) cost += (kept >> form & 1) != 0 ? 0.4 : 0;
                    for (int subproblem = 0; subproblem < 3; ++subproblem) {
                        const int first = problem.first(goal + 20 + subproblem * 5 + weight);
                        double one = 1e9;
                        for (int form = 0; form < 4; ++form)
                            if ((kept >> form & 1) != 0) one = std::min(one, problem.cost(first + form));
                        cost += one;
                    }
                    best = std::min(best, cost);
                }
                least += best;
            }
        EXPECT_NEAR(path.cost, least, 1e-9);
    }
}

/// Stacked subproblems, each a chain of goals of equal cost with a shared goal at its bottom; goals of other
/// subproblems are above and below the longest.
TEST(Decomposition, AChainOfEqualGoalsDoesNotSplitSubproblems) {
    for (int longest = 0; longest < 4; ++longest) {
        SearchProblem problem;
        std::vector<int> subproblem_of;
        problem.add_goal();
        problem.add_alternative(1, {}, {});
        subproblem_of.push_back(shared);
        for (int subproblem = 0; subproblem < 4; ++subproblem) {
            int last = 0;
            for (int i = 0; i < (subproblem == longest ? 12 : 3); ++i) {
                const int goal = problem.add_goal();
                problem.add_alternative(subproblem == longest ? 2 : 3 + i, {last}, {});
                subproblem_of.push_back(subproblem);
                last = goal;
            }
            problem.add_root(last);
        }
        ASSERT_EQ(fault_of_decomposition(problem, subproblem_of), "");
        const Exploration found = explore_decomposed(problem, subproblem_of);
        ASSERT_EQ(found.status, Status::found);
        const Path path = found.dag.cheapest(found.paths);
        EXPECT_TRUE(is_path(problem, path.choices)) << longest;
        EXPECT_EQ(path.choices.size(), static_cast<std::size_t>(problem.alternatives())) << longest;
    }
}

TEST(Decomposition, ManyLayersAreSearchedJointly) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const auto [problem, subproblem_of] = layered_decomposition(seed, 9 + static_cast<int>(seed % 11));
        const Exploration whole = explore(problem), apart = explore_decomposed(problem, subproblem_of);
        ASSERT_TRUE(whole.exact) << seed;
        ASSERT_EQ(apart.status, whole.status) << seed;
        if (whole.status != Status::found) continue;
        ++found;
        const Path path = apart.dag.cheapest(apart.paths);
        EXPECT_TRUE(is_path(problem, path.choices)) << seed;
        EXPECT_NEAR(path.cost, whole.dag.cost(whole.paths), 1e-9) << seed;
    }
    EXPECT_GT(found, 200);
}

// Each of these seeds gives equal layers. Limits of presolve take effect below 160 of them.
TEST(Decomposition, WorkGrowsNoFasterThanTheLayers) {
    for (const bool is_alone : {false, true}) {
        const auto work = [&](int layers) {
            std::array<std::size_t, 3> sums{};
            for (const std::uint64_t seed : {2, 4, 8, 10, 11, 16}) {
                auto [problem, subproblem_of] = layered_decomposition(seed, layers);
                if (is_alone) std::fill(subproblem_of.begin(), subproblem_of.end(), 0);
                const Exploration found = explore_decomposed(problem, subproblem_of);
                EXPECT_EQ(found.status, Status::found) << seed;
                sums[0] += found.states, sums[1] += found.work, sums[2] += found.border_work;
            }
            return sums;
        };
        const auto few = work(160), many = work(640);
        for (std::size_t i = 0; i < few.size(); ++i) EXPECT_LE(many[i], few[i] * 9 / 2) << is_alone << " " << i;
    }
}

TEST(Decomposition, ReturnsAPathIfASubproblemIsTooLarge) {
    const auto [problem, subproblem_of] = with_a_subproblem_too_large();
    const Exploration found = explore_decomposed(problem, subproblem_of);
    ASSERT_EQ(found.status, Status::found);
    EXPECT_FALSE(found.exact);
    EXPECT_TRUE(is_path(problem, found.dag.cheapest(found.paths).choices));
}

TEST(Decomposition, ObservesAStopRequest) {
    const auto [problem, subproblem_of] = layers_of_forms(9, 2, 6, 4, 3);
    std::stop_source source;
    source.request_stop();
    Options options;
    options.stop = source.get_token();
    EXPECT_EQ(explore_decomposed(problem, subproblem_of, options).status, Status::stopped);
}

TEST(Decomposition, FaultsAreNamed) {
    const SearchProblem problem = written({{{1, {}, {}}}, {{2, {0}, {}}}, {{3, {1}, {}}}}, {2});
    EXPECT_EQ(fault_of_decomposition(problem, std::vector<int>{shared, 0, 0}), "");
    EXPECT_EQ(fault_of_decomposition(problem, std::vector<int>{shared, 0}), "not every goal has a subproblem");
    EXPECT_EQ(fault_of_decomposition(problem, std::vector<int>{shared, 0, shared}), "goal 2 is shared and a root");
    EXPECT_EQ(fault_of_decomposition(problem, std::vector<int>{0, shared, 0}),
              "goal 1 is shared and needs or provides other goals");
    EXPECT_EQ(fault_of_decomposition(problem, std::vector<int>{shared, 0, 1}),
              "goal 2 needs goal 1 of another subproblem");
    EXPECT_EQ(fault_of_decomposition(problem, std::vector<int>{-2, 0, 0}), "goal 0 has a negative subproblem");
}

}  // namespace
}  // namespace cairn::search::test
