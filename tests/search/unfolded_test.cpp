#include "search/unfolded.hpp"

#include "search/explore.hpp"
#include "search/sides.hpp"
#include "search/ties.hpp"
#include "tests/search/random_meeting.hpp"
#include "tests/search/random_problem.hpp"
#include "tests/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace cairn::search::test {
namespace {

constexpr double without_path = std::numeric_limits<double>::infinity();

Unfolded unfolded(const Problem& problem) {
    const Exploration found = explore(problem, {.only_cheapest = false});
    return Unfolded(found.space, found.paths);
}

TEST(Unfolded, IsAskedAtOtherCosts) {
    Unfolded paths = unfolded(written({{{2}}, {{5, {0}}, {9}}}, {1}));
    EXPECT_EQ(paths.cheapest(std::vector<double>{2, 5, 9}), 7);
    EXPECT_EQ(paths.path(), (std::vector<int>{0, 1}));
    EXPECT_EQ(paths.above(3), (std::vector<double>{0, 0, 2}));
    EXPECT_EQ(paths.cheapest(std::vector<double>{6, 5, 9}), 9);
    EXPECT_EQ(paths.path(), std::vector<int>{2});
    EXPECT_EQ(paths.above(3), (std::vector<double>{2, 2, 0}));
}

TEST(Unfolded, WhatNoPathHasIsNowhere) {
    Unfolded paths = unfolded(written({{{2}}, {{1}}}, {1}));
    EXPECT_EQ(paths.cheapest(std::vector<double>{2, 1}), 1);
    EXPECT_EQ(paths.above(2), (std::vector<double>{without_path, 0}));
}

TEST(Unfolded, NoPathAndAPathWithoutAChoice) {
    const Space space;
    Unfolded none(space, Space::none), done(space, Space::done);
    EXPECT_EQ(none.cheapest({}), without_path);
    EXPECT_EQ(none.above(1), std::vector<double>{without_path});
    EXPECT_EQ(done.cheapest({}), 0);
    EXPECT_EQ(done.path(), std::vector<int>());
    EXPECT_EQ(done.above(1), std::vector<double>{without_path});
}

// Equal layers cost something else each from then on.
TEST(Unfolded, AgreesWithAllPaths) {
    for_each_listed([](const Listed& listed) {
        const auto& [seed, problem, all, found] = listed;
        Unfolded paths(found.space, found.paths);
        std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
        const auto choices = static_cast<std::size_t>(problem.alternatives());
        for (int time = 0; time < 4; ++time) {
            std::vector<double> costs(choices);
            for (double& cost : costs) cost = static_cast<double>(random() % 64) / 4;
            std::vector<double> least(choices, without_path);  // of the paths with each choice
            double cheapest = without_path, own = 0;
            for (const Path& path : all) {
                double cost = 0;
                for (const int choice : path.choices) cost += costs[static_cast<std::size_t>(choice)];
                cheapest = std::min(cheapest, cost);
                for (const int choice : path.choices) {
                    double& known = least[static_cast<std::size_t>(choice)];
                    known = std::min(known, cost);
                }
            }
            ASSERT_EQ(paths.cheapest(costs), cheapest) << seed;
            const std::vector<int> path = paths.path();
            EXPECT_TRUE(is_path(problem, path)) << seed;
            for (const int choice : path) own += costs[static_cast<std::size_t>(choice)];
            EXPECT_EQ(own, cheapest) << seed;
            const std::vector<double> above = paths.above(choices);
            for (std::size_t choice = 0; choice < choices; ++choice)
                ASSERT_EQ(above[choice], least[choice] - cheapest) << seed << ' ' << choice;
        }
    });
}

// Any choices may be of one kind, in equal layers or elsewhere.
TEST(Unfolded, ChoicesOfOneKindCostTheSame) {
    int smaller = 0;
    for_each_listed([&](const Listed& listed) {
        const auto& [seed, problem, all, found] = listed;
        std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
        const auto choices = static_cast<std::size_t>(problem.alternatives());
        const std::size_t count = 1 + random() % choices;
        std::vector<int> kinds = originals_of(found.space, choices);
        for (int& kind : kinds) kind %= static_cast<int>(count);
        Unfolded paths(found.space, found.paths, kinds);
        smaller += paths.size() < Unfolded(found.space, found.paths).size();
        for (int time = 0; time < 3; ++time) {
            std::vector<double> costs(count);
            for (double& cost : costs) cost = static_cast<double>(random() % 64) / 4;
            const auto cost_of = [&](const std::vector<int>& path) {
                double cost = 0;
                for (const int choice : path)
                    cost += costs[static_cast<std::size_t>(kinds[static_cast<std::size_t>(choice)])];
                return cost;
            };
            std::vector<double> least(count, without_path);  // of the paths with a choice of each kind
            double cheapest = without_path;
            for (const Path& path : all) {
                const double cost = cost_of(path.choices);
                cheapest = std::min(cheapest, cost);
                for (const int choice : path.choices) {
                    double& known = least[static_cast<std::size_t>(kinds[static_cast<std::size_t>(choice)])];
                    known = std::min(known, cost);
                }
            }
            ASSERT_EQ(paths.cheapest(costs), cheapest) << seed;
            const std::vector<int> path = paths.path();
            EXPECT_TRUE(is_path(problem, path)) << seed;
            EXPECT_EQ(cost_of(path), cheapest) << seed;
            std::vector<int> taken(count, 0);
            for (const int choice : path) ++taken[static_cast<std::size_t>(kinds[static_cast<std::size_t>(choice)])];
            EXPECT_EQ(paths.taken(count), taken) << seed;
            const std::vector<double> above = paths.above(count);
            for (std::size_t kind = 0; kind < count; ++kind)
                ASSERT_EQ(above[kind], least[kind] - cheapest) << seed << ' ' << kind;
        }
    });
    EXPECT_GT(smaller, 50);
}

TEST(Unfolded, ALongRunOfEqualLayersIsHardlyMoreThanAShortOne) {
    const auto parts = [](int layers) {
        const auto [problem, side_of] = layered_meeting(1, layers);
        const auto is_its = [&](int goal) { return side_of[static_cast<std::size_t>(goal)] <= 0; };
        const Excerpt one = excerpt_of(problem, is_its, [](int) { return true; });
        const Exploration found = explore(one.problem, {.only_cheapest = false});
        const std::vector<int> kinds = originals_of(found.space, one.choices.size());
        return std::pair(Unfolded(found.space, found.paths, kinds).size(), Unfolded(found.space, found.paths).size());
    };
    const auto [few, few_named] = parts(16);
    const auto [more, more_named] = parts(256);
    EXPECT_LT(more, 3 * few);
    EXPECT_GT(more_named, 12 * few_named);
}

}  // namespace
}  // namespace cairn::search::test
