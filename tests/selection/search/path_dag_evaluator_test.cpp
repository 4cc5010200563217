#include "selection/search/path_dag_evaluator.hpp"

#include "selection/search/cost_classes.hpp"
#include "selection/search/decomposition.hpp"
#include "selection/search/explore.hpp"
#include "tests/selection/search/random_decomposition.hpp"
#include "tests/selection/search/random_problem.hpp"
#include "tests/selection/search/written_problem.hpp"

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

PathDagEvaluator unfolded(const SearchProblem& problem) {
    const Exploration found = explore(problem, {.only_cheapest = false});
    return PathDagEvaluator(found.dag, found.paths);
}

TEST(PathDagEvaluator, EvaluatesOtherCosts) {
    PathDagEvaluator paths = unfolded(written({{{2}}, {{5, {0}}, {9}}}, {1}));
    EXPECT_EQ(paths.cheapest(std::vector<double>{2, 5, 9}), 7);
    EXPECT_EQ(paths.path(), (std::vector<int>{0, 1}));
    EXPECT_EQ(paths.reduced_costs(3), (std::vector<double>{0, 0, 2}));
    EXPECT_EQ(paths.cheapest(std::vector<double>{6, 5, 9}), 9);
    EXPECT_EQ(paths.path(), std::vector<int>{2});
    EXPECT_EQ(paths.reduced_costs(3), (std::vector<double>{2, 2, 0}));
}

TEST(PathDagEvaluator, ChoicesOfNoPathHaveInfiniteReducedCost) {
    PathDagEvaluator paths = unfolded(written({{{2}}, {{1}}}, {1}));
    EXPECT_EQ(paths.cheapest(std::vector<double>{2, 1}), 1);
    EXPECT_EQ(paths.reduced_costs(2), (std::vector<double>{without_path, 0}));
}

TEST(PathDagEvaluator, NoPathAndAPathWithoutAChoice) {
    const PathDag dag;
    PathDagEvaluator none(dag, PathDag::none), empty_path(dag, PathDag::empty_path);
    EXPECT_EQ(none.cheapest({}), without_path);
    EXPECT_EQ(none.reduced_costs(1), std::vector<double>{without_path});
    EXPECT_EQ(empty_path.cheapest({}), 0);
    EXPECT_EQ(empty_path.path(), std::vector<int>());
    EXPECT_EQ(empty_path.reduced_costs(1), std::vector<double>{without_path});
}

// Equal layers then get different costs.
TEST(PathDagEvaluator, AgreesWithAllPaths) {
    for_each_enumerated_problem([](const EnumeratedProblem& listed) {
        const auto& [seed, problem, all, found] = listed;
        PathDagEvaluator paths(found.dag, found.paths);
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
            const std::vector<double> reduced_costs = paths.reduced_costs(choices);
            for (std::size_t choice = 0; choice < choices; ++choice)
                ASSERT_EQ(reduced_costs[choice], least[choice] - cheapest) << seed << ' ' << choice;
        }
    });
}

// Any choices may be of one cost class, in equal layers or elsewhere.
TEST(PathDagEvaluator, ChoicesOfOneKindCostTheSame) {
    int smaller = 0;
    for_each_enumerated_problem([&](const EnumeratedProblem& listed) {
        const auto& [seed, problem, all, found] = listed;
        std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
        const auto choices = static_cast<std::size_t>(problem.alternatives());
        const std::size_t count = 1 + random() % choices;
        std::vector<int> cost_classes = originals_of(found.dag, choices);
        for (int& cost_class : cost_classes) cost_class %= static_cast<int>(count);
        PathDagEvaluator paths(found.dag, found.paths, cost_classes);
        smaller += paths.size() < PathDagEvaluator(found.dag, found.paths).size();
        for (int time = 0; time < 3; ++time) {
            std::vector<double> costs(count);
            for (double& cost : costs) cost = static_cast<double>(random() % 64) / 4;
            const auto cost_of = [&](const std::vector<int>& path) {
                double cost = 0;
                for (const int choice : path)
                    cost += costs[static_cast<std::size_t>(cost_classes[static_cast<std::size_t>(choice)])];
                return cost;
            };
            std::vector<double> least(count, without_path);  // of the paths with a choice of each class
            double cheapest = without_path;
            for (const Path& path : all) {
                const double cost = cost_of(path.choices);
                cheapest = std::min(cheapest, cost);
                for (const int choice : path.choices) {
                    double& known = least[static_cast<std::size_t>(cost_classes[static_cast<std::size_t>(choice)])];
                    known = std::min(known, cost);
                }
            }
            ASSERT_EQ(paths.cheapest(costs), cheapest) << seed;
            const std::vector<int> path = paths.path();
            EXPECT_TRUE(is_path(problem, path)) << seed;
            EXPECT_EQ(cost_of(path), cheapest) << seed;
            std::vector<int> choice_counts(count, 0);
            for (const int choice : path)
                ++choice_counts[static_cast<std::size_t>(cost_classes[static_cast<std::size_t>(choice)])];
            EXPECT_EQ(paths.choice_counts(count), choice_counts) << seed;
            const std::vector<double> reduced_costs = paths.reduced_costs(count);
            for (std::size_t cost_class = 0; cost_class < count; ++cost_class)
                ASSERT_EQ(reduced_costs[cost_class], least[cost_class] - cheapest) << seed << ' ' << cost_class;
        }
    });
    EXPECT_GT(smaller, 50);
}

TEST(PathDagEvaluator, ManyEqualLayersCostLittleMoreThanFew) {
    const auto nodes = [](int layers) {
        const auto [problem, subproblem_of] = layered_decomposition(1, layers);
        const auto is_its = [&](int goal) { return subproblem_of[static_cast<std::size_t>(goal)] <= 0; };
        const InducedProblem one = induced_problem(problem, is_its, [](int) { return true; });
        const Exploration found = explore(one.problem, {.only_cheapest = false});
        const std::vector<int> cost_classes = originals_of(found.dag, one.choices.size());
        return std::pair(PathDagEvaluator(found.dag, found.paths, cost_classes).size(),
                         PathDagEvaluator(found.dag, found.paths).size());
    };
    const auto [few, few_named] = nodes(16);
    const auto [more, more_named] = nodes(256);
    EXPECT_LT(more, 3 * few);
    EXPECT_GT(more_named, 12 * few_named);
}

}  // namespace
}  // namespace cairn::search::test
