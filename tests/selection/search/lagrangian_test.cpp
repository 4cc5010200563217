#include "selection/search/lagrangian.hpp"

#include "selection/search/decomposition.hpp"
#include "tests/selection/search/random_decomposition.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::search::test {
namespace {

// Two subproblems that prefer different forms: 0 costs 3 to keep and 1 costs 4.5. Together they take one.
TEST(Lagrangian, ASharedGoalIsPaidForOnce) {
    const SearchProblem problem = written({{{3}}, {{4.5}}, {{1, {0}}, {2, {1}}}, {{3, {0}}, {1, {1}}}}, {2, 3});
    const std::vector<int> subproblem_of{shared, shared, 0, 1};
    const Exploration found = explore_lagrangian(problem, subproblem_of, {});
    ASSERT_EQ(found.status, Status::found);
    EXPECT_TRUE(found.exact);
    EXPECT_EQ(found.dag.cheapest(found.paths), (Path{7, {0, 2, 4}}));
    EXPECT_EQ(found.low, 7);
}

TEST(Lagrangian, CheapestPathsAreThoseOfTheJointProblem) {
    expect_the_cheapest(
        [](const DecomposedProblem& decomposed) {
            return explore_lagrangian(decomposed.problem, decomposed.subproblem_of, {});
        },
        [](const Exploration&) { return Status::too_large; });
}

// Neither equal shares of equal layers nor separate shares prove a path; the joint search does.
TEST(Lagrangian, SearchesIfNoSharesProveOptimality) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto [problem, subproblem_of] = layers_without_a_form_for_all(seed, 6);
        const Exploration whole = explore(problem);
        ASSERT_TRUE(whole.exact);
        const Exploration found = explore_lagrangian(problem, subproblem_of, {});
        ASSERT_EQ(found.status, Status::found);
        EXPECT_TRUE(found.exact) << seed;
        EXPECT_NEAR(found.dag.cost(found.paths), whole.dag.cost(whole.paths), 1e-9) << seed;
    }
}

TEST(Lagrangian, IsTruncatedIfASubproblemIsTooLarge) {
    const auto [problem, subproblem_of] = with_a_subproblem_too_large();
    EXPECT_EQ(explore_lagrangian(problem, subproblem_of, {}).status, Status::too_large);
}

TEST(Lagrangian, ObservesAStopRequest) {
    const auto [problem, subproblem_of] = layers_of_forms(9, 2, 6, 4, 3);
    std::stop_source source;
    source.request_stop();
    Options options;
    options.stop = source.get_token();
    EXPECT_EQ(explore_lagrangian(problem, subproblem_of, options).status, Status::stopped);
}

}  // namespace
}  // namespace cairn::search::test
