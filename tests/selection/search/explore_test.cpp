#include "selection/search/explore.hpp"

#include "selection/search/k_best.hpp"
#include "selection/search/scc.hpp"
#include "tests/selection/search/random_problem.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::search::test {
namespace {

RandomProblemOptions make_of(std::uint64_t seed) {
    RandomProblemOptions make;
    make.goals = 3 + static_cast<int>(seed % 5);
    make.provides = seed % 2 == 1;
    make.only_along = seed % 5 == 0;
    make.ties = seed % 3 == 0;
    if (seed % 7 == 0) make = {5, 9, make.provides, false, make.ties, 3 + static_cast<int>(seed % 2)};
    return make;
}

/// Checks all paths found, the cheapest first.
void expect_all(const Exploration& found, const std::vector<Path>& paths, std::uint64_t seed) {
    KBestPaths best(found.dag, found.paths);
    std::vector<Path> ordered;
    while (const auto cost = best.next()) {
        ordered.push_back(best.path(best.found() - 1));
        EXPECT_EQ(ordered.back().cost, *cost);
    }
    EXPECT_EQ(ordered, paths) << "seed " << seed;
}

TEST(Explore, FindsAllPathsThatBruteForceFinds) {
    int without = 0, with_cycles = 0, cut = 0, shared = 0, many = 0;
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        const SearchProblem problem = random_problem(seed, make_of(seed));
        ASSERT_EQ(fault(problem), "");
        const std::vector<Path> paths = all_paths(problem);
        if (paths.size() > 20'000) continue;
        without += paths.empty();
        many += paths.size() > 100;
        const std::vector<int> sccs = scc_of_goals(problem);
        with_cycles += std::any_of(sccs.begin(), sccs.end(), [](int scc) { return scc >= 0; });
        for (const bool share : {true, false})
            for (const bool only_cheapest : {true, false}) {
                Options options;
                options.only_cheapest = only_cheapest;
                options.share_regions = share;
                const Exploration found = explore(problem, options);
                cut += found.regions > 1;
                shared += found.regions_solved < found.regions;
                EXPECT_TRUE(found.exact);
                ASSERT_EQ(found.status == Status::found, !paths.empty()) << "seed " << seed;
                if (paths.empty()) continue;
                EXPECT_EQ(fault(found.dag, found.paths), "") << "seed " << seed;
                const Path cheapest = found.dag.cheapest(found.paths);
                EXPECT_EQ(cheapest.cost, paths[0].cost) << "seed " << seed;
                EXPECT_TRUE(std::binary_search(paths.begin(), paths.end(), cheapest, comes_first)) << "seed " << seed;
                if (!only_cheapest) expect_all(found, paths, seed);
                if (testing::Test::HasFailure()) return;
            }
    }
    EXPECT_GT(without, 500);
    EXPECT_GT(many, 100);
    EXPECT_GT(with_cycles, 500);
    EXPECT_GT(cut, 500);
    EXPECT_GT(shared, 50);
}

Path cheapest(const WrittenGoals& goals, const std::vector<int>& roots) {
    const Exploration found = explore(written(goals, roots));
    EXPECT_EQ(found.status, Status::found);
    return found.dag.cheapest(found.paths);
}

TEST(Explore, CountsSharedWorkOnce) {
    // 0 is expensive and used by both 1 and 2; 3 can be computed from them, or alone for slightly more than all of
    // that.
    EXPECT_EQ(cheapest({{{10}}, {{1, {0}}}, {{1, {0}}}, {{1, {1, 2}}, {14}}}, {3}), (Path{13, {0, 1, 2, 3}}));
}

TEST(Explore, UsesAnAlternativeThatProvidesAGoal) {
    // Goal 1 is a root; goal 2 has an alternative that provides 1.
    EXPECT_EQ(cheapest({{{1}}, {{5, {0}}}, {{3, {1}}, {6, {0}, {1}}}}, {2, 1}), (Path{7, {0, 3}}));
}

TEST(Explore, ReachesGoalsThatAreOnlyProvided) {
    // Goal 0 has no alternative of its own; the cheaper alternative of goal 2 provides it.
    EXPECT_EQ(cheapest({{}, {{1}}, {{3, {1}, {0}}, {6, {1}}, {0.5, {0}}}}, {2}), (Path{4, {0, 1}}));
}

TEST(Explore, NeedsGoalsThatAreOnlyProvided) {
    // Goal 1 provides 0, which the cheap alternative of goal 2 needs.
    EXPECT_EQ(cheapest({{}, {{1, {}, {0}}}, {{1, {0}}, {5, {1}}}}, {2, 1}).cost, 2);
    EXPECT_EQ(cheapest({{}, {{1, {}, {0}}}, {{1, {0}}}}, {2, 1}).cost, 2);
    EXPECT_EQ(cheapest({{}, {{1, {}, {0}}}, {{1, {0}}}}, {1, 0}).cost, 1);
}

TEST(Explore, ReportsThatGoalsExcludeEachOther) {
    // 1 and 2 can each be reached, but both provide 0, which may have one producer only.
    EXPECT_EQ(explore(written({{}, {{1, {}, {0}}}, {{1, {}, {0}}}}, {1, 2})).status, Status::impossible);
}

TEST(Explore, NamesAGoalThatCannotBeReached) {
    const Exploration found = explore(written({{}, {{1, {0}}}}, {1}));
    EXPECT_EQ(found.status, Status::unreachable);
    EXPECT_EQ(found.unreachable, 1);
}

TEST(Explore, NoRootsAreOneEmptyPath) {
    const Exploration found = explore(SearchProblem());
    EXPECT_EQ(found.status, Status::found);
    EXPECT_EQ(found.dag.cheapest(found.paths), (Path{0, {}}));
}

TEST(Explore, StopsOnRequest) {
    std::stop_source stop;
    stop.request_stop();
    Options options;
    options.stop = stop.get_token();
    EXPECT_EQ(explore(written({{{1}}}, {0}), options).status, Status::stopped);
}

/// `count` equal layers, each with a choice between an expensive match and cheap steps, over a value that all of them
/// need; every other step is a root, or the last one only.
SearchProblem layers(int count, bool all_wanted = true) {
    WrittenGoals goals{{{1}}, {{1}}};
    std::vector<int> roots;
    for (int layer = 0; layer < count; ++layer) {
        const int below = static_cast<int>(goals.size()) - 1;
        for (int i = 0; i < 6; ++i) {
            const int goal = static_cast<int>(goals.size());
            goals.push_back({{1, {goal - 1, 0}}, {3.5, {below, 0}}});
            if (i % 2 == 1 && all_wanted) roots.push_back(goal);
        }
    }
    if (!all_wanted) roots.push_back(static_cast<int>(goals.size()) - 1);
    return written(goals, roots);
}

TEST(Explore, SolvesEqualLayersOnce) {
    for (const bool only_cheapest : {true, false}) {
        Options options;
        options.only_cheapest = only_cheapest;
        const Exploration few = explore(layers(4), options), many = explore(layers(96), options);
        EXPECT_GT(many.regions, 10 * few.regions_solved);
        EXPECT_LE(many.regions_solved, few.regions_solved + 1);
        EXPECT_LE(many.states, few.states + 64);
        options.share_regions = false;
        const Exploration apart = explore(layers(96), options);
        EXPECT_DOUBLE_EQ(apart.dag.cost(apart.paths), many.dag.cost(many.paths));
        KBestPaths ones(apart.dag, apart.paths), others(many.dag, many.paths);
        for (int i = 0; i < 1000; ++i) {
            const auto one = ones.next(), other = others.next();
            ASSERT_EQ(one.has_value(), other.has_value());
            ASSERT_DOUBLE_EQ(one.value_or(0), other.value_or(0));
        }
    }
}

TEST(Explore, SolvesAChainWithoutASearch) {
    // Each step is needed by the next alone: all of them become one goal.
    EXPECT_LE(explore(layers(96, false)).states, 8U);
}

TEST(Explore, StaysConsistentPastItsLimit) {
    RandomProblemOptions make;
    make.goals = 90;
    make.alternatives = 300;
    int inexact = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        make.provides = seed % 2 == 1;
        const SearchProblem problem = random_problem(seed, make);
        const Exploration exact = explore(problem);
        Options options;
        options.state_limit = 1;
        options.share_regions = false;
        const Exploration rough = explore(problem, options);
        ASSERT_EQ(rough.status, exact.status) << seed;
        if (exact.status != Status::found) continue;
        inexact += !rough.exact;
        const Path path = rough.dag.cheapest(rough.paths);
        EXPECT_EQ(find_cycle(problem, path.choices), -1);
        double cost = 0;
        for (const int choice : path.choices) cost += problem.cost(choice);
        EXPECT_DOUBLE_EQ(cost, path.cost);
        EXPECT_GE(path.cost, exact.dag.cost(exact.paths));
    }
    EXPECT_GT(inexact, 3);
}

TEST(Explore, FindsAPathIfTheBeamHasNone) {
    // The cheap alternative of each upper goal needs a middle goal, which provides what that alternative provides too.
    // So only the expensive alternatives lead to an end, and the cheapest states do not have these alone.
    constexpr int count = 80;
    WrittenGoals goals(count);
    std::vector<int> roots, plain;
    for (int i = 0; i < count; ++i) goals.push_back({{1, {}, {i}}});
    for (int i = 0, choice = count; i < 2 * count; ++i, choice += 2) {
        roots.push_back(static_cast<int>(goals.size()));
        plain.push_back(choice + 1);
        goals.push_back({{1, {count + i / 2}, {i / 2}}, {9}});
    }
    const SearchProblem problem = written(goals, roots);
    Options options;
    options.state_limit = 1;
    const Exploration found = explore(problem, options);
    ASSERT_EQ(found.status, Status::found);
    EXPECT_FALSE(found.exact);
    EXPECT_LT(found.regions_solved, found.regions);
    EXPECT_EQ(found.dag.cheapest(found.paths), (Path{9.0 * 2 * count, plain}));
}

}  // namespace
}  // namespace cairn::search::test
