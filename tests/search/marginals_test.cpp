#include "search/marginals.hpp"

#include "search/explore.hpp"
#include "tests/search/random_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cairn::search::test {
namespace {

Exploration all_paths_of(const Problem& problem) { return explore(problem, {.only_cheapest = false}); }

TEST(Marginals, OfAGoalWithTwoWays) {
    Problem problem;
    problem.add_goal();
    problem.add_alternative(2, {}, {});
    problem.add_goal();
    problem.add_alternative(5, {0}, {});
    problem.add_alternative(9, {}, {});
    problem.add_root(1);
    const Exploration found = all_paths_of(problem);
    const std::vector<int> cheapest = {0, 1}, other = {2};
    using Costs = std::vector<std::optional<double>>;
    EXPECT_EQ(costs_above(problem, found.space, found.paths, cheapest), (Costs{0, 0, 2}));
    EXPECT_EQ(costs_above(problem, found.space, found.paths, other), (Costs{-2, -2, 0}));
}

TEST(Marginals, WhatNoPathHasCostsNothing) {
    Problem problem;
    problem.add_goal();
    problem.add_alternative(2, {}, {});
    problem.add_goal();
    problem.add_alternative(1, {}, {});
    problem.add_root(1);
    const Exploration found = all_paths_of(problem);
    const std::vector<int> path = {1};
    EXPECT_EQ(costs_above(problem, found.space, found.paths, path)[0], std::nullopt);
}

TEST(Marginals, AgreeWithTryingAllPaths) {
    for_each_listed([](const Listed& listed) {
        const auto& [seed, problem, all, found] = listed;
        const Path& from = all[seed % all.size()];
        const auto above = costs_above(problem, found.space, found.paths, from.choices);
        ASSERT_EQ(above.size(), static_cast<std::size_t>(problem.alternatives()));
        for (int choice = 0; choice < problem.alternatives(); ++choice) {
            const auto with = std::find_if(all.begin(), all.end(), [&](const Path& path) {
                return std::binary_search(path.choices.begin(), path.choices.end(), choice);
            });
            const auto& found_above = above[static_cast<std::size_t>(choice)];
            ASSERT_EQ(found_above.has_value(), with != all.end()) << seed << ' ' << choice;
            ASSERT_NEAR(found_above.value_or(0), found_above ? with->cost - from.cost : 0, 1e-9) << seed;
            const bool is_in_cheapest =
                from == all.front() && std::binary_search(from.choices.begin(), from.choices.end(), choice);
            ASSERT_TRUE(!is_in_cheapest || found_above == 0.0) << seed;
        }
    });
}

}  // namespace
}  // namespace cairn::search::test
