#include "selection/search/subproblems.hpp"

#include "selection/search/decomposition.hpp"
#include "tests/selection/search/random_decomposition.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::search::test {
namespace {

Exploration every_path(const SearchProblem& problem) {
    Options options;
    options.only_cheapest = false;
    return explore(problem, options);
}

// Two subproblems that may each read one of two forms: 0 costs 3 to keep and 1 costs 4.5.
const std::vector<int> two_subproblems{shared, shared, 0, 1};
SearchProblem two_forms() { return written({{{3}}, {{4.5}}, {{1, {0}}, {2, {1}}}, {{3, {0}}, {1, {1}}}}, {2, 3}); }

TEST(Subproblems, EachIsSolvedIndependently) {
    const SearchProblem problem = two_forms();
    Subproblems subproblems(problem, two_subproblems);
    ASSERT_TRUE(subproblems.add_all(every_path));
    subproblems.tie(true);
    ASSERT_EQ(subproblems.size(), 2u);
    EXPECT_FALSE(subproblems.is_tied());
    const CostShares halves(subproblems.shared_goals(), 2);
    RelaxedSolution all(2);
    for (std::size_t subproblem = 0; subproblem < 2; ++subproblem) subproblems.find_cheapest(subproblem, halves, all);
    EXPECT_EQ(all.costs, (std::vector<double>{2.5, 3.25}));
    EXPECT_EQ(all.unshared_costs, (std::vector<double>{1, 1}));
    EXPECT_EQ(all.cost(), 5.75);
    EXPECT_EQ(all.usage[0], (std::vector<double>{1, 0}));
    EXPECT_EQ(all.usage[1], (std::vector<double>{0, 1}));
    EXPECT_EQ(subproblems.reduced_costs(), (std::vector<double>{0, 0, 0, 1.75, 1.25, 0}));
    EXPECT_EQ(subproblems.whole_path(all), (std::vector<int>{0, 1, 2, 5}));
}

TEST(Subproblems, ASubproblemWithoutAPathIsReported) {
    const SearchProblem problem = written({{{3}}, {}, {{1, {0}}}}, {1, 2});
    const std::vector<int> subproblem_of{shared, 0, 1};
    Subproblems subproblems(problem, subproblem_of);
    EXPECT_FALSE(subproblems.add_all(every_path));
}

TEST(Subproblems, TiedGoalsKeepTheirShares) {
    const auto [problem, subproblem_of] = layers_without_a_form_for_all(3, 8);
    Subproblems subproblems(problem, subproblem_of);
    ASSERT_TRUE(subproblems.add_all(every_path));
    subproblems.tie(true);
    ASSERT_TRUE(subproblems.is_tied());
    const std::size_t tied = subproblems.shared_goals().size();
    const CostShares shares(subproblems.shared_goals(), subproblems.size());
    RelaxedSolution before(subproblems.size()), after(subproblems.size());
    for (std::size_t subproblem = 0; subproblem < subproblems.size(); ++subproblem)
        subproblems.find_cheapest(subproblem, shares, before);
    const CostShares own = subproblems.untied(shares);
    EXPECT_FALSE(subproblems.is_tied());
    EXPECT_GT(subproblems.shared_goals().size(), tied);
    for (std::size_t subproblem = 0; subproblem < subproblems.size(); ++subproblem) {
        subproblems.find_cheapest(subproblem, own, after);
        EXPECT_NEAR(after.costs[subproblem], before.costs[subproblem], 1e-9);
    }
}

}  // namespace
}  // namespace cairn::search::test
