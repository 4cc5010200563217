#include "selection/search/k_best.hpp"

#include "selection/search/explore.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::search::test {
namespace {

// random_test.cpp checks by brute force that the order is right and complete.

TEST(KBestPaths, GivesThePathsInTheOrderOfTheirCosts) {
    Options options;
    options.only_cheapest = false;
    const Exploration found = explore(written({{{1}, {4}}, {{2, {0}}, {7}}}, {1}), options);
    KBestPaths best(found.dag, found.paths);
    EXPECT_EQ(best.found(), 0U);
    for (const double cost : {3, 6, 7}) EXPECT_EQ(best.next(), cost);
    EXPECT_EQ(best.next(), std::nullopt);
    EXPECT_EQ(best.next(), std::nullopt);
    EXPECT_EQ(best.found(), 3U);
    EXPECT_EQ(best.path(0), (Path{3, {0, 2}}));
    EXPECT_EQ(best.path(1), (Path{6, {1, 2}}));
    EXPECT_EQ(best.path(2), (Path{7, {3}}));
}

TEST(KBestPaths, OfNoPathsIsEmpty) {
    PathDag dag;
    EXPECT_EQ(KBestPaths(dag, PathDag::none).next(), std::nullopt);
    for (const PathSet set : {PathDag::empty_path, dag.choice(5, 2)}) {
        KBestPaths best(dag, set);
        EXPECT_EQ(best.next(), dag.cost(set));
        EXPECT_EQ(best.next(), std::nullopt);
        EXPECT_EQ(best.found(), 1U);
        EXPECT_EQ(best.path(0), dag.cheapest(set));
    }
}

/// The choices of all paths, in order.
std::vector<std::vector<int>> order_of(const SearchProblem& problem) {
    Options options;
    options.only_cheapest = false;
    const Exploration found = explore(problem, options);
    KBestPaths best(found.dag, found.paths);
    std::vector<std::vector<int>> order;
    while (best.next()) order.push_back(best.path(best.found() - 1).choices);
    return order;
}

TEST(KBestPaths, EqualCostsAreOrderedByTheirChoices) {
    const SearchProblem three = written({{{1}, {1}, {1}}, {{1}, {1}, {1}}}, {0, 1});
    EXPECT_EQ(order_of(three),
              (std::vector<std::vector<int>>{{0, 3}, {1, 3}, {2, 3}, {0, 4}, {1, 4}, {2, 4}, {0, 5}, {1, 5}, {2, 5}}));
    EXPECT_EQ(order_of(written({{{1}, {2}}, {{1}, {2}}}, {0, 1})),
              (std::vector<std::vector<int>>{{0, 2}, {1, 2}, {0, 3}, {1, 3}}))
        << "of 3 and 3 that which is dearer below";
    // One expensive alternative, numbered last, costs as much as two cheap ones, one of which has two forms.
    EXPECT_EQ(order_of(written({{{1}, {1}}, {{2, {0}}, {3}}}, {1})),
              (std::vector<std::vector<int>>{{0, 2}, {1, 2}, {3}}));
}

TEST(KBestPaths, CostsAreComparedExactly) {
    // As doubles 0.1 + 0.2 is more than 0.3 and 0.1 + 0.7 less than 0.8; so are the exact sums of these doubles.
    EXPECT_EQ(order_of(written({{{0.1}}, {{0.2, {0}}, {0.3}}}, {1})), (std::vector<std::vector<int>>{{2}, {0, 1}}));
    EXPECT_EQ(order_of(written({{{0.1}}, {{0.7, {0}}, {0.8}}}, {1})), (std::vector<std::vector<int>>{{0, 1}, {2}}));
    // A tiny cost added to a large one would be lost in a sum of doubles.
    EXPECT_EQ(order_of(written({{{2e-20}, {1e-20}}, {{1, {0}}}}, {1})),
              (std::vector<std::vector<int>>{{1, 2}, {0, 2}}));
}

TEST(KBestPaths, TheFirstPathIsFoundWithoutTheOthers) {
    // 30 independent choices of two: the first is {0, 2, ...}, requested alone and again after the second.
    WrittenGoals goals(30, {{1}, {1}});
    std::vector<int> roots;
    for (int goal = 0; goal < 30; ++goal) roots.push_back(goal);
    Options options;
    options.only_cheapest = false;
    const Exploration found = explore(written(goals, roots), options);
    KBestPaths best(found.dag, found.paths);
    EXPECT_EQ(best.next(), 30);
    const Path first = best.path(0);
    for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(first.choices[i], static_cast<int>(2 * i));
    EXPECT_EQ(best.next(), 30);
    EXPECT_EQ(best.path(0), first);
    EXPECT_EQ(best.path(1).choices.front(), 1);
    EXPECT_EQ(best.found(), 2U);
}

TEST(KBestPaths, ADeepDagNeedsNoRecursion) {
    // Each set is the one below or one more choice: 2^20000 paths.
    PathDag dag;
    PathSet set = PathDag::empty_path;
    for (int depth = 0; depth < 20'000; ++depth) {
        PathDag::Sum sum;
        dag.add(sum, set, dag.choice(2 * depth, 1));
        dag.add(sum, set, dag.choice(2 * depth + 1, 2));
        set = dag.set_of(sum);
    }
    KBestPaths best(dag, set);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(best.next(), i == 0 ? 20'000 : 20'001);
    EXPECT_EQ(best.path(9).cost, 20'001);
}

}  // namespace
}  // namespace cairn::search::test
