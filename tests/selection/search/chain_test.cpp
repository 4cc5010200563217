#include "selection/search/chain.hpp"

#include "selection/search/explore.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace cairn::search::test {
namespace {

// random_test.cpp checks by brute force that no path is lost or repeated.

/// Steps in layers: each step is computed from the one below or, at a higher cost, from the last of the layer below;
/// every other one is a root.
SearchProblem steps(int count) {
    WrittenGoals goals{{{1}}};
    std::vector<int> roots;
    for (int layer = 0; layer < count; ++layer) {
        const int below = static_cast<int>(goals.size()) - 1;
        for (int i = 0; i < 6; ++i) {
            const int goal = static_cast<int>(goals.size());
            goals.push_back({{1, {goal - 1}}, {3.5, {below}}});
            if (i % 2 == 1) roots.push_back(goal);
        }
    }
    return written(goals, roots);
}

/// The number of sets above one another.
int depth_of(const PathDag& dag, PathSet set) {
    std::vector<int> depth(static_cast<std::size_t>(set) + 1, 0);
    for (PathSet s = 0; s <= set; ++s)
        for (int p = dag.first_product(s); p >= 0; p = dag.product_at(p).next)
            for (const PathSet part : {dag.product_at(p).first, dag.product_at(p).second})
                depth[static_cast<std::size_t>(s)] =
                    std::max(depth[static_cast<std::size_t>(s)], depth[static_cast<std::size_t>(part)] + 1);
    return depth[static_cast<std::size_t>(set)];
}

TEST(Chain, IsCutWhereFewestGoalsCross) {
    // A chain 0 to 7; 4 has two more users above, so that two goals are live there.
    const SearchProblem problem = written({{{1}},
                                           {{1, {0}}},
                                           {{1, {1}}},
                                           {{1, {2}}},
                                           {{1, {3}}},
                                           {{1, {4}}},
                                           {{1, {4, 5}}},
                                           {{1, {4, 6}}},
                                           {{1, {7}}},
                                           {{1, {8}}},
                                           {{1, {9}}},
                                           {{1, {10}}}},
                                          {11});
    EXPECT_EQ(cuts_of(problem, no_sccs(problem), true), (std::vector<int>{0, 4, 8, 12}));
    EXPECT_EQ(cuts_of(problem, no_sccs(problem), false), (std::vector<int>{0, 12}));
    std::vector<int> sccs = no_sccs(problem);
    sccs[3] = sccs[5] = 0;
    EXPECT_EQ(cuts_of(problem, sccs, true), (std::vector<int>{0, 8, 12})) << "not through what may be a circle";
}

TEST(Chain, IsNotCutWhereManyGoalsCross) {
    constexpr int count = 140;
    WrittenGoals goals(count, {{1}});
    for (int goal = 0; goal < count; ++goal) goals.push_back({{1, {goal}}});
    std::vector<int> roots;
    for (int goal = count; goal < 2 * count; ++goal) roots.push_back(goal);
    const SearchProblem problem = written(goals, roots);
    EXPECT_EQ(cuts_of(problem, no_sccs(problem), true), (std::vector<int>{0, 2 * count}));
}

TEST(Chain, AllPathsAreCombinedPairwise) {
    Options options;
    options.only_cheapest = false;
    const Exploration few = explore(steps(8), options), many = explore(steps(128), options);
    ASSERT_GE(many.regions, 64U);
    EXPECT_LE(depth_of(many.dag, many.paths), depth_of(few.dag, few.paths) + 4) << "16 times as many";
    options.only_cheapest = true;
    const Exploration cheapest = explore(steps(128), options);
    EXPECT_GE(depth_of(cheapest.dag, cheapest.paths), 64) << "one after the other";
    EXPECT_EQ(cheapest.dag.cost(cheapest.paths), many.dag.cost(many.paths));
}

TEST(Chain, RootsBelongToTheirRegion) {
    // Roots at each border, at the ends, and duplicates.
    WrittenGoals goals;
    for (int goal = 0; goal < 16; ++goal) goals.push_back({{1}, {2}});
    const SearchProblem problem = written(goals, {15, 8, 7, 4, 3, 3, 0, 8});
    PathDag dag;
    PresolvedProblem presolved{problem, {}, no_sccs(problem)};
    for (int choice = 0; choice < problem.alternatives(); ++choice)
        presolved.sets.push_back(dag.choice(choice, problem.cost(choice)));
    for (const bool only_cheapest : {true, false}) {
        SearchLimits limits{0, 1000, true, {}};
        const ChainResult chained = paths_of_chain(presolved, dag, limits, {0, 4, 8, 12, 16}, only_cheapest);
        EXPECT_EQ(dag.cheapest(chained.paths), (Path{6, {0, 6, 8, 14, 16, 30}}));
    }
}

TEST(Chain, WithoutGoalsThereIsOnePath) {
    PathDag dag;
    const PresolvedProblem presolved;
    SearchLimits limits{0, 1000, true, {}};
    EXPECT_EQ(dag.cheapest(paths_of_chain(presolved, dag, limits, {0, 0}, false).paths), (Path{0, {}}));
    EXPECT_EQ(dag.cheapest(paths_of_chain(presolved, dag, limits, {0}, false).paths), (Path{0, {}}));
}

// Any of fifteen goals may be provided across each border: so many states that only the cheapest are followed. With all
// of them the DAG has 489772 sets, and the cost is the same.
TEST(Chain, KeepsTheCheapestStatesAtWideCuts) {
    SearchProblem problem;
    const int count = 80, window = 15;
    for (int goal = 0; goal < count; ++goal) {
        problem.add_goal();
        problem.add_alternative(1, {}, {});
        for (int back = 1; back <= std::min(goal, window); back += back < 3 ? 1 : 3)
            problem.add_alternative(1.5 + 0.1 * ((goal * 7 + back * 3) % 5), {}, {goal - back});
        problem.add_root(goal);
    }
    Options options;
    options.only_cheapest = true;
    const Exploration found = explore(problem, options);
    ASSERT_EQ(found.status, Status::found);
    EXPECT_EQ(found.regions, 20u);
    EXPECT_FALSE(found.exact);
    EXPECT_NEAR(found.dag.cost(found.paths), 0.79 * count, 1e-9);
    // Most transitions of a region and most states at a border are pruned.
    EXPECT_LT(found.dag.size(), 489'772u / 12);
    // The work is estimated before the states are combined.
    EXPECT_LT(found.border_work, (std::size_t{1} << 20) + count * 2048u);
}

}  // namespace
}  // namespace cairn::search::test
