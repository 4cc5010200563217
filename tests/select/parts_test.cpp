#include "select/parts.hpp"

#include "cairn/error.hpp"
#include "select/region.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace cairn::select {
namespace {

/// A binary tree of sums, `levels` high, its leaves first: each sum needs its two parts, or is made of their parts at
/// once. Where that is cheap it is best done wherever it can be.
SearchProblem tree(int levels, double at_once) {
    SearchProblem problem;
    const auto build = [&](const auto& self, int level) -> int {
        std::vector<int> parts, their_parts;
        for (int side = 0; side < 2 && level > 0; ++side) {
            parts.push_back(self(self, level - 1));
            const auto& first = problem.goals.back()[0].needs;
            their_parts.insert(their_parts.end(), first.begin(), first.end());
        }
        auto& ways = problem.goals.emplace_back();
        ways.push_back({1, parts, {}});
        if (level > 1) ways.push_back({at_once, their_parts, {}});
        return static_cast<int>(problem.goals.size()) - 1;
    };
    problem.roots = {build(build, levels)};
    return problem;
}

TEST(Parts, ATreeTakesOnePartAGoal) {
    const auto result = search_parts(tree(12, 0.5), {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->states, 8191U);
    EXPECT_EQ(result->cost, 0.5 * 1365 + 4096) << "1 + 4 + ... + 4^5 times at once, and every leaf";
    EXPECT_EQ(result->choices.size(), 1365U + 4096U);
}

TEST(Parts, CostsOfPartsAddUp) {
    const auto result = search_parts(tree(2, 2.5), {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->cost, 2.5 + 4);
    EXPECT_EQ(search_parts(tree(2, 3.5), {})->cost, 7);
}

/// Goals that mostly need goals close by, some of which bring others along.
SearchProblem problem_of(std::uint32_t seed, int goals) {
    std::mt19937 random(seed);
    SearchProblem problem;
    for (int g = 0; g < goals; ++g) {
        auto& alternatives = problem.goals.emplace_back();
        for (unsigned a = 0; a < 1 + random() % 3; ++a) {
            std::set<int> needs, provides;
            for (int k = 0; k < 2 && g > 0; ++k)
                if (random() % 3 != 0)
                    needs.insert(std::max(0, g - 1 - static_cast<int>(random() % (k == 0 ? 4 : 12))));
            if (g > 0 && random() % 6 == 0) provides.insert(std::max(0, g - 1 - static_cast<int>(random() % 6)));
            for (const int goal : provides) needs.erase(goal);
            alternatives.push_back({1 + static_cast<double>(random() % 64),
                                    {needs.begin(), needs.end()},
                                    {provides.begin(), provides.end()}});
        }
    }
    problem.roots = {goals - 1, goals / 2, goals / 3};
    return problem;
}

TEST(Parts, TakeWhatTheWholeTakes) {
    int fell_apart = 0;
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        const SearchProblem problem = problem_of(seed, 24);
        RegionSolver whole(problem, form_of(problem, 0, 24));
        Frontier roots;
        for (const int root : problem.roots) add_goal(roots, static_cast<char32_t>(root), false);
        std::size_t states = 0;
        bool exact = true;
        const auto& exits = whole.solve(roots, {}, states, exact);
        const auto parts = search_parts(problem, {});
        ASSERT_TRUE(parts && exact);
        EXPECT_EQ(parts->cost, exits.empty() ? INFINITY : exits[0].cost) << seed;
        fell_apart += parts->states < states;
        double cost = 0;
        for (const auto& [goal, alternative] : parts->choices)
            cost += problem.goals[static_cast<std::size_t>(goal)][static_cast<std::size_t>(alternative)].cost;
        EXPECT_TRUE(exits.empty() || cost == parts->cost) << seed;
    }
    EXPECT_GT(fell_apart, 200);
}

TEST(Parts, WhatIsProvidedTwiceIsNoWay) {
    SearchProblem problem;
    problem.goals = {{}, {{1, {}, {0}}}, {{1, {}, {0}}}};
    problem.roots = {0, 1, 2};
    EXPECT_EQ(search_parts(problem, {})->cost, INFINITY);
    problem.roots = {0, 2};
    EXPECT_EQ(search_parts(problem, {})->cost, 1);
}

TEST(Parts, ThereAreLimitsAndAStop) {
    EXPECT_FALSE(search_parts(tree(12, 0.5), {.state_limit = 1000}));
    // Each goal may or may not need each of those below: that never falls apart.
    std::mt19937 random(1);
    SearchProblem problem;
    for (int g = 0; g < 200; ++g) {
        auto& alternatives = problem.goals.emplace_back();
        for (int a = 0; a < 3; ++a) {
            alternatives.push_back({static_cast<double>(random() % 64), {}, {}});
            for (int need = 0; need < g; ++need)
                if (random() % 8 == 0) alternatives.back().needs.push_back(need);
        }
    }
    problem.roots = {199};
    EXPECT_FALSE(search_parts(problem, {}));
    std::stop_source stop;
    stop.request_stop();
    SearchOptions stopped;
    stopped.stop = stop.get_token();
    EXPECT_THROW(search_parts(problem, stopped), Cancelled);
}

}  // namespace
}  // namespace cairn::select
