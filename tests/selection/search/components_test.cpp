#include "selection/search/components.hpp"

#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace cairn::search::test {
namespace {

// explore_test.cpp checks by brute force that components give all paths.

struct Outcome {
    bool found = false;
    double cost = 0;
    std::size_t choices = 0, states = 0;
};

/// A problem without presolve: each alternative is a choice of its own.
Outcome by_components(const SearchProblem& problem, std::size_t limit = 2'000'000, std::stop_token stop = {}) {
    PathDag dag(true);
    PresolvedProblem presolved{problem, {}, no_sccs(problem)};
    for (int choice = 0; choice < problem.alternatives(); ++choice)
        presolved.sets.push_back(dag.choice(choice, problem.cost(choice)));
    SearchLimits limits{0, limit, true, std::move(stop)};
    const auto set = paths_by_components(presolved, dag, limits);
    if (!set) return {};
    return {true, dag.cost(*set), *set == PathDag::none ? 0 : dag.cheapest(*set).choices.size(), limits.states};
}

/// A binary tree of sums, `levels` high, leaves first: each sum needs its two parts, or the parts of those directly. If
/// the latter is cheap, it is optimal wherever it is possible.
SearchProblem tree(int levels, double at_once) {
    WrittenGoals goals;
    const auto build = [&](const auto& self, int level) -> int {
        std::vector<int> parts, their_parts;
        for (int side = 0; side < 2 && level > 0; ++side) {
            parts.push_back(self(self, level - 1));
            const auto& first = goals.back()[0].needs;
            their_parts.insert(their_parts.end(), first.begin(), first.end());
        }
        auto& own_alternatives = goals.emplace_back();
        own_alternatives.push_back({1, parts});
        if (level > 1) own_alternatives.push_back({at_once, their_parts});
        return static_cast<int>(goals.size()) - 1;
    };
    const int root = build(build, levels);
    return written(goals, {root});
}

TEST(Components, ATreeHasOneComponentPerGoal) {
    const Outcome outcome = by_components(tree(12, 0.5));
    ASSERT_TRUE(outcome.found);
    EXPECT_EQ(outcome.states, 8191U);
    EXPECT_EQ(outcome.cost, 0.5 * 1365 + 4096) << "1 + 4 + ... + 4^5 times at once, and every leaf";
    EXPECT_EQ(outcome.choices, 1365U + 4096U);
}

TEST(Components, CostsOfComponentsAddUp) {
    EXPECT_EQ(by_components(tree(2, 2.5)).cost, 2.5 + 4);
    EXPECT_EQ(by_components(tree(2, 3.5)).cost, 7);
}

/// Goals that mostly need nearby goals; some provide others.
SearchProblem problem_of(std::uint32_t seed, int goals) {
    std::mt19937 random(seed);
    WrittenGoals made;
    for (int g = 0; g < goals; ++g) {
        auto& own_alternatives = made.emplace_back();
        for (unsigned a = 0; a < 1 + random() % 3; ++a) {
            std::set<int> needs, provides;
            for (int k = 0; k < 2 && g > 0; ++k)
                if (random() % 3 != 0)
                    needs.insert(std::max(0, g - 1 - static_cast<int>(random() % (k == 0 ? 4 : 12))));
            if (g > 0 && random() % 6 == 0) provides.insert(std::max(0, g - 1 - static_cast<int>(random() % 6)));
            for (const int goal : provides) needs.erase(goal);
            own_alternatives.push_back({1 + static_cast<double>(random() % 64),
                                        {needs.begin(), needs.end()},
                                        {provides.begin(), provides.end()}});
        }
    }
    return written(made, {goals - 1, goals / 2, goals / 3});
}

TEST(Components, GiveThePathOfTheJointSearch) {
    int fell_apart = 0;
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        const SearchProblem problem = problem_of(seed, 24);
        PathDag dag(true);
        PresolvedProblem presolved{problem, {}, no_sccs(problem)};
        for (int choice = 0; choice < problem.alternatives(); ++choice)
            presolved.sets.push_back(dag.choice(choice, problem.cost(choice)));
        RegionSolver whole(presolved, dag, RegionForms(presolved, dag).of(0, 24));
        State roots;
        for (const int root : problem.roots()) add_goal(roots, root, false);
        SearchLimits limits{0, 2'000'000, true, {}};
        const auto& exits = whole.solve(roots, limits);
        const Outcome parts = by_components(problem);
        ASSERT_TRUE(parts.found && limits.exact);
        EXPECT_EQ(parts.cost, exits.empty() ? INFINITY : dag.cost(exits[0].set)) << seed;
        fell_apart += parts.states < limits.states;
    }
    EXPECT_GT(fell_apart, 200);
}

TEST(Components, AGoalProvidedTwiceIsImpossible) {
    const WrittenGoals goals = {{}, {{1, {}, {0}}}, {{1, {}, {0}}}};
    EXPECT_EQ(by_components(written(goals, {0, 1, 2})).cost, INFINITY);
    EXPECT_EQ(by_components(written(goals, {0, 2})).cost, 1);
}

TEST(Components, ObserveLimitsAndStopRequests) {
    EXPECT_FALSE(by_components(tree(12, 0.5), 1000).found);
    // Each goal may or may not need each of those below: no components.
    std::mt19937 random(1);
    WrittenGoals goals;
    for (int g = 0; g < 200; ++g) {
        auto& own_alternatives = goals.emplace_back();
        for (int a = 0; a < 3; ++a) {
            own_alternatives.push_back({static_cast<double>(random() % 64)});
            for (int need = 0; need < g; ++need)
                if (random() % 8 == 0) own_alternatives.back().needs.push_back(need);
        }
    }
    EXPECT_FALSE(by_components(written(goals, {199})).found);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(by_components(tree(2, 1), 1000, stop.get_token()).found);
}

}  // namespace
}  // namespace cairn::search::test
