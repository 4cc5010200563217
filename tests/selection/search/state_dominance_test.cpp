#include "selection/search/state_dominance.hpp"

#include "selection/search/explore.hpp"
#include "tests/selection/search/random_problem.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace cairn::search::test {
namespace {

using Provides = StateDominance::Provides;
using Indices = std::vector<std::size_t>;

/// States with their costs, as a layer of a search has them.
class Layer {
public:
    void add(const State& state, double cost) { table_.reach(state, dag_, dag_.choice(next_++, cost)); }
    std::span<const StateTable::ReachedState> states() const { return table_.entries(); }

private:
    PathDag dag_{true};
    StateTable table_;
    int next_ = 0;
};

State pending_state(std::vector<int> goals) {
    State made;
    for (const int goal : goals) add_goal(made, goal, false);
    return made;
}

/// 0: a value. 1: a copy of it. 2, 3: two forms of a weight. 4: something that provides 1 beside itself.
WrittenGoals forms() { return {{{100}, {90}}, {{5, {0}}}, {{1}}, {{2}}, {{3, {0}, {1}}}}; }

TEST(StateDominance, AStateIsDominatedByACheaperOneWithWhatItLacks) {
    const SearchProblem problem = written(forms(), {});
    StateDominance dominance(problem, 0, problem.goals());
    const auto remaining = [&](std::vector<std::pair<std::vector<int>, double>> states, Provides provides) {
        Layer layer;
        for (const auto& [goals, cost] : states) layer.add(pending_state(goals), cost);
        return dominance.undominated(layer.states(), provides);
    };
    EXPECT_EQ(remaining({{{1}, 10}, {{0}, 16}}, Provides::counted), Indices{0}) << "a copy for 5";
    EXPECT_EQ(remaining({{{1}, 10}, {{0}, 15}}, Provides::counted), (Indices{0, 1})) << "as cheap";
    EXPECT_EQ(remaining({{{0}, 16}, {{1}, 10}}, Provides::counted), Indices{1});
    EXPECT_EQ(remaining({{{0, 2}, 10}, {{0, 3}, 12}}, Provides::counted), Indices{0}) << "another form for 1";
    EXPECT_EQ(remaining({{{0, 3}, 10}, {{0, 2}, 12}}, Provides::counted), (Indices{0, 1}));
    EXPECT_EQ(remaining({{{0}, 10}, {{0, 2, 3}, 11}}, Provides::counted), Indices{0}) << "more goals, and dearer";
    EXPECT_EQ(remaining({{{0, 1}, 10}, {{0, 4}, 300}}, Provides::counted), (Indices{0, 1})) << "4 may provide 1";
    EXPECT_EQ(remaining({{{0, 1}, 10}, {{0, 4}, 300}}, Provides::ignored), Indices{0});
}

TEST(StateDominance, GoalsBelowTheRegionCountForNothing) {
    const SearchProblem problem = written(forms(), {});
    StateDominance dominance(problem, 1, problem.goals());
    Layer layer;
    layer.add(pending_state({1}), 10);
    layer.add(pending_state({0}), 16);
    layer.add(pending_state({}), 9);
    EXPECT_EQ(dominance.undominated(layer.states(), Provides::counted), (Indices{0, 2})) << "1 is copied of 0";
}

TEST(StateDominance, WhatRemainsIsEachGoalAndTheLongestOfItsNeedsInEachProgram) {
    // 0, 1: inputs. 2, 3: of each. 4: alone. 5, 6: of 2. 7: of both 5 and 6.
    const SearchProblem problem = written(
        {{{1}}, {{2}}, {{7, {0}}, {8, {0}}}, {{9, {1}}}, {{4}}, {{1, {2, 4}}}, {{10, {2}}}, {{20, {5, 6}}}}, {});
    StateDominance dominance(problem, 2, problem.goals());
    EXPECT_EQ(dominance.remaining(pending_state({0, 1})), 0);
    EXPECT_EQ(dominance.remaining(pending_state({2})), 7);
    EXPECT_EQ(dominance.remaining(pending_state({3, 2})), 9 + 7);
    EXPECT_EQ(dominance.remaining(pending_state({5, 6})), 5 + 10 + 7) << "both need 2";
    EXPECT_EQ(dominance.remaining(pending_state({7})), 20 + 5 + 10 + 7);
    EXPECT_EQ(dominance.remaining(pending_state({5, 3})), 5 + 7 + 9) << "two programs";
    EXPECT_EQ(dominance.remaining(pending_state({5, 4})), 5 + 7 + 4);
}

/// The least cost of a path to these goals.
std::optional<double> cheapest(SearchProblem problem, StateView state) {
    for (const char32_t code : state) problem.add_root(goal_of(code));
    const Exploration found = explore(problem);
    if (found.status != Status::found) return std::nullopt;
    return found.dag.cost(found.paths);
}

TEST(StateDominance, RandomStatesOnCheapestPathsRemain) {
    constexpr double none = std::numeric_limits<double>::infinity();
    std::size_t removed = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        RandomProblemOptions make;
        make.goals = 7, make.alternatives = 14, make.provides = seed % 2 == 0, make.ties = seed % 3 == 0;
        SearchProblem problem;
        for (const SearchProblem given = random_problem(seed, make); problem.goals() < given.goals();) {
            const int goal = problem.add_goal();
            for (int choice = given.first(goal); choice < given.first(goal + 1); ++choice)
                problem.add_alternative(given.cost(choice), given.alternative(choice).needs,
                                        given.alternative(choice).provides);
        }
        std::mt19937 random(static_cast<unsigned>(seed));
        Layer layer;
        for (int i = 0; i < 12; ++i) {
            std::vector<int> goals;
            for (int goal = 0; goal < problem.goals(); ++goal)
                if (random() % 3 == 0) goals.push_back(goal);
            layer.add(pending_state(goals), static_cast<double>(random() % 12));
        }
        std::vector<double> costs;
        for (const auto& [state, sum] : layer.states())
            costs.push_back(sum.cost + cheapest(problem, state).value_or(none));
        const Indices kept = StateDominance(problem, 0, problem.goals()).undominated(layer.states(), Provides::counted);
        removed += costs.size() - kept.size();
        const double least = *std::min_element(costs.begin(), costs.end());
        for (std::size_t i = 0; i < costs.size(); ++i)
            EXPECT_TRUE(costs[i] == none || costs[i] > least || std::binary_search(kept.begin(), kept.end(), i))
                << "seed " << seed << ", state " << i;
    }
    EXPECT_GT(removed, 300U);
}

}  // namespace
}  // namespace cairn::search::test
