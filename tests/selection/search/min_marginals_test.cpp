#include "selection/search/min_marginals.hpp"

#include "selection/search/explore.hpp"
#include "tests/selection/search/random_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

namespace cairn::search::test {
namespace {

Exploration all_paths_of(const SearchProblem& problem) { return explore(problem, {.only_cheapest = false}); }

std::vector<std::optional<double>> costs_above(const SearchProblem& problem, const PathDag& dag, PathSet set,
                                               std::span<const int> path) {
    std::vector<std::optional<double>> all;
    for (const auto& each : min_marginals(problem, dag, set, path))
        all.push_back(each ? std::optional(each->extra_cost) : std::nullopt);
    return all;
}

TEST(MinMarginals, OfAGoalWithTwoAlternatives) {
    SearchProblem problem;
    problem.add_goal();
    problem.add_alternative(2, {}, {});
    problem.add_goal();
    problem.add_alternative(5, {0}, {});
    problem.add_alternative(9, {}, {});
    problem.add_root(1);
    const Exploration found = all_paths_of(problem);
    const std::vector<int> cheapest = {0, 1}, other = {2};
    using Costs = std::vector<std::optional<double>>;
    EXPECT_EQ(costs_above(problem, found.dag, found.paths, cheapest), (Costs{0, 0, 2}));
    EXPECT_EQ(costs_above(problem, found.dag, found.paths, other), (Costs{-2, -2, 0}));
}

TEST(MinMarginals, ChoicesOfNoPathHaveNoMarginal) {
    SearchProblem problem;
    problem.add_goal();
    problem.add_alternative(2, {}, {});
    problem.add_goal();
    problem.add_alternative(1, {}, {});
    problem.add_root(1);
    const Exploration found = all_paths_of(problem);
    const std::vector<int> path = {1};
    EXPECT_EQ(costs_above(problem, found.dag, found.paths, path)[0], std::nullopt);
}

TEST(MinMarginals, AgreeWithBruteForce) {
    for_each_enumerated_problem([](const EnumeratedProblem& listed) {
        const auto& [seed, problem, all, found] = listed;
        const Path& from = all[seed % all.size()];
        const auto extra_cost = costs_above(problem, found.dag, found.paths, from.choices);
        ASSERT_EQ(extra_cost.size(), static_cast<std::size_t>(problem.alternatives()));
        for (int choice = 0; choice < problem.alternatives(); ++choice) {
            const auto with = std::find_if(all.begin(), all.end(), [&](const Path& path) {
                return std::binary_search(path.choices.begin(), path.choices.end(), choice);
            });
            const auto& found_above = extra_cost[static_cast<std::size_t>(choice)];
            ASSERT_EQ(found_above.has_value(), with != all.end()) << seed << ' ' << choice;
            ASSERT_NEAR(found_above.value_or(0), found_above ? with->cost - from.cost : 0, 1e-9) << seed;
            const bool is_in_cheapest =
                from == all.front() && std::binary_search(from.choices.begin(), from.choices.end(), choice);
            ASSERT_TRUE(!is_in_cheapest || found_above == 0.0) << seed;
        }
    });
}

// The amounts are those of a cheapest path with the choice.
TEST(MinMarginals, AmountsAreThoseOfACheapestPath) {
    for_each_enumerated_problem([](const EnumeratedProblem& listed) {
        const auto& [seed, problem, all, found] = listed;
        std::vector<Amounts> amounts;
        for (int choice = 0; choice < problem.alternatives(); ++choice)
            // Equal layers have equal costs, and so equal amounts.
            amounts.push_back({problem.cost(choice) * 3, 1, problem.cost(choice) > 2 ? 5.0 : 7.0, 0, 2});
        const auto marginals = min_marginals(problem, found.dag, found.paths, all.front().choices, amounts);
        for (int choice = 0; choice < problem.alternatives(); ++choice) {
            const auto& one = marginals[static_cast<std::size_t>(choice)];
            if (!one) continue;
            const bool is_of_one = std::any_of(all.begin(), all.end(), [&](const Path& path) {
                if (!std::binary_search(path.choices.begin(), path.choices.end(), choice)) return false;
                Amounts sums = {};
                for (const int each : path.choices)
                    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += amounts[static_cast<std::size_t>(each)][i];
                double apart = std::abs(path.cost - all.front().cost - one->extra_cost);
                for (std::size_t i = 0; i < sums.size(); ++i) apart += std::abs(sums[i] - one->amounts[i]);
                return apart < 1e-8;
            });
            ASSERT_TRUE(is_of_one) << seed << ' ' << choice;
        }
    });
}

}  // namespace
}  // namespace cairn::search::test
