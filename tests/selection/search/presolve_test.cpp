#include "selection/search/presolve.hpp"

#include "selection/search/explore.hpp"
#include "selection/search/numbering.hpp"
#include "tests/selection/search/random_decomposition.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

namespace cairn::search::test {
namespace {

// explore_test.cpp checks by brute force that no path is lost.

PresolvedProblem presolved(const SearchProblem& problem, PathDag& dag, bool only_cheapest = true) {
    return presolve(problem, no_sccs(problem), dag, only_cheapest).value();
}
PresolvedProblem presolved(const SearchProblem& problem, bool only_cheapest = true) {
    PathDag dag(only_cheapest);
    return presolved(problem, dag, only_cheapest);
}

TEST(Presolve, AChainBecomesOneGoalWithAllChoices) {
    const SearchProblem problem = written({{{1}}, {{9, {0}}, {2, {0}}}, {{4, {1}}}}, {2});
    PathDag dag(true);
    const PresolvedProblem result = presolved(problem, dag);
    ASSERT_EQ(result.problem.goals(), 1);
    ASSERT_EQ(result.problem.alternatives(), 1);
    EXPECT_DOUBLE_EQ(result.problem.cost(0), 7);
    EXPECT_EQ(result.problem.roots()[0], 0);
    EXPECT_EQ(result.goals, std::vector<int>{2}) << "as it was numbered";
    EXPECT_EQ(dag.cheapest(result.sets[0]), (Path{7, {0, 2, 3}}));
}

TEST(Presolve, AllPathsOfAChainAreInOneAlternative) {
    const SearchProblem problem = written({{{1}}, {{9, {0}}, {2, {0}}}, {{4, {1}}}}, {2});
    PathDag dag;
    const PresolvedProblem result = presolved(problem, dag, false);
    ASSERT_EQ(result.problem.alternatives(), 1);
    EXPECT_DOUBLE_EQ(result.problem.cost(0), 7);
    EXPECT_EQ(fault(dag, result.sets[0]), "");
    EXPECT_EQ(dag.cheapest(result.sets[0]).choices, (std::vector<int>{0, 2, 3}));
}

TEST(Presolve, OfEqualAlternativesTheFirstIsKept) {
    PathDag dag(true);
    const PresolvedProblem result = presolved(written({{{3}, {3}, {3}}}, {0}), dag);
    ASSERT_EQ(result.problem.alternatives(), 1);
    EXPECT_EQ(dag.cheapest(result.sets[0]).choices, std::vector<int>{0});
}

/// Number of alternatives that the top goal keeps if 0 and 1 are roots.
int kept(const std::vector<WrittenAlternative>& top, bool only_cheapest = true,
         const std::vector<WrittenAlternative>& middle = {{1}}) {
    const SearchProblem problem = presolved(written({{{1}}, middle, top}, {0, 1, 2}), only_cheapest).problem;
    return problem.first(3) - problem.first(2);
}

TEST(Presolve, AnAlternativeIsDominatedByACheaperOneWithoutFurtherNeeds) {
    EXPECT_EQ(kept({{2, {0}}, {3, {0, 1}}}), 1);
    EXPECT_EQ(kept({{3, {0, 1}}, {2, {0}}}), 1) << "in either order";
    EXPECT_EQ(kept({{3, {0}}, {2, {0, 1}}}), 2) << "cheaper for one more need";
    EXPECT_EQ(kept({{2, {0}}, {2, {1}}}), 2) << "other needs";
    EXPECT_EQ(kept({{2}, {3, {}, {0}}}), 2) << "dearer, but it brings something";
    EXPECT_EQ(kept({{2}, {3, {1}}}, true, {{1, {}, {0}}}), 2) << "the need of the dearer one may bring goal 0 with it";
}

TEST(Presolve, NothingIsDominatedIfAllPathsAreRequested) {
    EXPECT_EQ(kept({{2, {0}}, {3, {0, 1}}}, false), 2);
    EXPECT_EQ(kept({{2, {0}}, {3, {0}}}, false), 1) << "but those that need the same are one";
}

TEST(Presolve, SharedGoalsAndRootsAreKept) {
    const WrittenGoals goals = {{{1}}, {{1, {0}}}, {{1, {0}}}, {{1, {1, 2}}}};
    EXPECT_EQ(presolved(written(goals, {3})).problem.goals(), 1) << "once 1 and 2 are in 3, 0 has one user";
    EXPECT_EQ(presolved(written(goals, {3, 1})).problem.goals(), 3);
}

TEST(Presolve, FoldingIsLimitedByTheNumberOfAlternatives) {
    // Any two alternatives differ in their needs, so none is dominated and none are equal.
    const auto goals_with = [](int each, bool only_cheapest) {
        WrittenGoals goals;
        std::vector<WrittenAlternative> low, high;
        std::vector<int> roots;
        for (int i = 0; i < each; ++i) {
            goals.push_back({{1}});
            goals.push_back({{1}});
            roots.push_back(2 * i);
            roots.push_back(2 * i + 1);
            low.push_back({1, {2 * i}});
            high.push_back({1, {2 * i + 1, 2 * each}});
        }
        goals.push_back(low);
        goals.push_back(high);
        roots.push_back(2 * each + 1);
        return presolved(written(goals, roots), only_cheapest).problem.goals() - 2 * each;
    };
    for (const bool only_cheapest : {false, true}) {
        EXPECT_EQ(goals_with(8, only_cheapest), 1);
        EXPECT_EQ(goals_with(9, only_cheapest), 2);
    }
}

/// A goal that needs `long_list` roots and ten goals of two alternatives each, neither of which dominates the other.
SearchProblem with_needs(int long_list) {
    WrittenGoals goals(static_cast<std::size_t>(long_list + 20), {{1}});
    std::vector<int> needs, roots;
    for (int i = 0; i < long_list + 20; ++i) roots.push_back(i);
    for (int i = 0; i < long_list; ++i) needs.push_back(i);
    for (int i = 0; i < 10; ++i) {
        needs.push_back(static_cast<int>(goals.size()));
        goals.push_back({{5, {long_list + 2 * i}}, {i + 1.0, {long_list + 2 * i + 1}}});
    }
    roots.push_back(static_cast<int>(goals.size()));
    goals.push_back({{100, needs}});
    return written(goals, roots);
}

TEST(Presolve, LongListsOfNeedsAreNotCopied) {
    const auto needs_after = [](int long_list) {
        const SearchProblem problem = presolved(with_needs(long_list), false).problem;
        std::size_t needs = 0;
        for (int choice = 0; choice < problem.alternatives(); ++choice)
            needs += problem.alternative(choice).needs.size();
        return needs;
    };
    EXPECT_GT(needs_after(200), 64U * 200) << "short enough: alternatives are combined";
    EXPECT_EQ(needs_after(300), 300U + 10 + 20);
}

TEST(Presolve, WithLongListsOfNeedsTheCheapestPathIsUnchanged) {
    for (const int long_list : {200, 300})
        for (const bool only_cheapest : {false, true}) {
            Options options;
            options.only_cheapest = only_cheapest;
            const Exploration found = explore(with_needs(long_list), options);
            ASSERT_EQ(found.status, Status::found);
            EXPECT_TRUE(found.exact);
            // The roots, the goal itself, then 1 + 2 + 3 + 4 and six times 5.
            EXPECT_EQ(found.dag.cost(found.paths), long_list + 20 + 100 + 10 + 30) << long_list;
        }
}

TEST(Presolve, ANeedProvidedByAFoldedGoalIsSatisfied) {
    // 2 needs 0 and 1; 1 provides 0.
    const WrittenGoals goals = {{{5}}, {{1, {}, {0}}}, {{1, {0, 1}}}};
    PathDag dag;
    const PresolvedProblem result = presolved(written(goals, {2}), dag, false);
    ASSERT_EQ(result.problem.alternatives(), 2) << "goal 0 of its own stays one that nothing needs";
    EXPECT_TRUE(result.problem.alternative(1).needs.empty());
    EXPECT_EQ(dag.cheapest(result.sets[1]).choices, (std::vector<int>{1, 2}));
}

TEST(Presolve, ProvidersInAnSccAreNotFolded) {
    const SearchProblem problem = written({{{5}}, {{1, {}, {0}}}, {{1, {0, 1}}}}, {2});
    PathDag dag;
    const std::vector<int> sccs{0, 0, -1};
    const PresolvedProblem result = *presolve(problem, sccs, dag, false);
    EXPECT_EQ(result.problem.goals(), 3);
    EXPECT_EQ(result.sccs, sccs);
}

TEST(Presolve, FindsReachableGoals) {
    // 0 is provided by 3 alone, 1 needs it, 2 has no alternative.
    const WrittenGoals goals = {{}, {{1, {0}}}, {}, {{1, {}, {0}}}, {{1, {2}}}};
    EXPECT_EQ(reachable_goals(written(goals, {})), (std::vector<bool>{true, true, false, true, false}));
    EXPECT_TRUE(reachable_goals({}).empty());
    EXPECT_EQ(presolved(written(goals, {4})).unreachable, 4);
    EXPECT_EQ(presolved(written(goals, {1, 3})).unreachable, -1);
}

TEST(Presolve, AProblemWithoutRootsBecomesEmpty) {
    EXPECT_EQ(presolved(SearchProblem()).problem.goals(), 0);
    EXPECT_EQ(presolved(written({{{1}}}, {})).problem.goals(), 0);
}

TEST(Presolve, StopsOnRequest) {
    const SearchProblem problem = written({{{1}}}, {0});
    PathDag dag;
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(presolve(problem, no_sccs(problem), dag, true, stop.get_token()));
}

// A repeated segment is reduced to what it would be reduced to alone.
TEST(Presolve, EqualSegmentsLoseNoPath) {
    int found = 0, less_work = 0;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        const auto [problem, subproblem_of] = layered_decomposition(seed);
        const auto is_its = [&](int goal) { return subproblem_of[static_cast<std::size_t>(goal)] <= 0; };
        const InducedProblem one = induced_problem(problem, is_its, [](int) { return true; });
        for (const bool only_cheapest : {true, false}) {
            Options options;
            options.only_cheapest = only_cheapest;
            const Exploration shared_work = explore(one.problem, options);
            options.share_regions = false;
            const Exploration all_work = explore(one.problem, options);
            ASSERT_EQ(shared_work.status, all_work.status) << seed;
            if (all_work.status != Status::found) continue;
            ++found;
            less_work += shared_work.work < all_work.work;
            EXPECT_NEAR(shared_work.dag.cost(shared_work.paths), all_work.dag.cost(all_work.paths), 1e-9) << seed;
            EXPECT_TRUE(is_path(one.problem, shared_work.dag.cheapest(shared_work.paths).choices)) << seed;
            if (only_cheapest || !all_work.exact || !shared_work.exact) continue;
            EXPECT_EQ(fault(shared_work.dag, shared_work.paths), "");
            EXPECT_EQ(Numbering(shared_work.dag, shared_work.paths).count(),
                      Numbering(all_work.dag, all_work.paths).count())
                << seed;
        }
    }
    EXPECT_GT(found, 300);
    EXPECT_GT(less_work, 100);
}

}  // namespace
}  // namespace cairn::search::test
