#include "selection/search/region.hpp"

#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

namespace cairn::search::test {
namespace {

// explore_test.cpp checks by brute force that regions solved and chained give all paths.

/// A problem without presolve: each alternative is a choice of its own.
struct Given {
    explicit Given(const SearchProblem& problem, std::vector<int> sccs = {}) {
        presolved.problem = problem;
        presolved.sccs = sccs.empty() ? no_sccs(problem) : std::move(sccs);
        for (int choice = 0; choice < problem.alternatives(); ++choice)
            presolved.sets.push_back(dag.choice(choice, problem.cost(choice)));
    }
    RegionForm form(int low, int high) const { return RegionForms(presolved, dag).of(low, high); }
    std::vector<Exit> solve(int low, int high, const State& inside) {
        return RegionSolver(presolved, dag, form(low, high)).solve(inside, limits);
    }

    PathDag dag;
    PresolvedProblem presolved;
    SearchLimits limits{0, 2'000'000, true, {}};
};

/// Goal 0 at the bottom, then layers of two goals, the upper of which depends on the layer below and on 0.
WrittenGoals layers(double cost_of_the_last = 5) {
    return {{{1}}, {{2, {0}}}, {{5, {1, 0}}}, {{2, {2}}}, {{5, {3, 0}}}, {{2, {4}}}, {{cost_of_the_last, {5, 0}}}};
}

TEST(Region, EqualStructuresHaveEqualForms) {
    const Given given(written(layers(), {}));
    const RegionForm low = given.form(3, 5), high = given.form(5, 7);
    EXPECT_EQ(low.signature, high.signature);
    EXPECT_EQ(low.ports, (std::vector<int>{0, 2}));
    EXPECT_EQ(high.ports, (std::vector<int>{0, 4}));
    EXPECT_EQ(low.choices, (std::vector<int>{4, 3}));
    EXPECT_EQ(high.choices, (std::vector<int>{6, 5}));
    EXPECT_NE(given.form(1, 3).signature, low.signature) << "there both ports are one goal";
    EXPECT_EQ(given.form(3, 3).signature, std::u32string()) << "no goals, no form";
}

TEST(Region, CostsAndProvidedGoalsArePartOfTheForm) {
    const std::u32string signature = Given(written(layers(), {})).form(5, 7).signature;
    EXPECT_NE(Given(written(layers(5.0000001), {})).form(5, 7).signature, signature);
    WrittenGoals provides = layers();
    provides[6][0] = {5, {5}, {0}};
    EXPECT_NE(Given(written(provides, {})).form(5, 7).signature, signature);
    EXPECT_NE(Given(written(layers(), {}), {-1, -1, -1, -1, -1, 0, 0}).form(5, 7).signature, signature)
        << "and what is to beware of";
}

TEST(Region, TheOrderOfChoicesIsPartOfTheForm) {
    // Both sets of a product cost the same; the signature records which of them has the lower choice.
    const auto signature = [](bool swapped) {
        Given given(written({{{2}}}, {}));
        const PathSet low = given.dag.choice(3, 1), high = given.dag.choice(4, 1);
        given.presolved.sets[0] = swapped ? given.dag.product(high, low) : given.dag.product(low, high);
        return given.form(0, 1).signature;
    };
    EXPECT_NE(signature(true), signature(false));
}

TEST(Region, PathSetsOfAlternativesArePartOfTheForm) {
    const auto signature = [](bool two) {
        Given given(written({{{1}}}, {}));
        PathDag::Sum sum;
        given.dag.add(sum, given.dag.choice(0, 1));
        if (two) given.dag.add(sum, given.dag.choice(1, 1));
        given.presolved.sets[0] = given.dag.set_of(sum);
        return given.form(0, 1).signature;
    };
    EXPECT_NE(signature(true), signature(false)) << "one path or two of the same cost";
}

TEST(Region, ExitsAreThePathsToEachSetOfPorts) {
    Given given(written({{{1}}, {{1}}, {{4, {0}}, {3, {0}}, {9, {1}}}}, {}));
    const std::vector<Exit> exits = given.solve(2, 3, state({pending(0)}));
    ASSERT_EQ(exits.size(), 2U);
    EXPECT_EQ(exits[0].ports, state({pending(0)}));
    EXPECT_EQ(given.dag.cheapest(exits[0].set), (Path{3, {3}}));
    EXPECT_EQ(exits[1].ports, state({pending(1)}));
    EXPECT_EQ(given.dag.cheapest(exits[1].set), (Path{9, {4}}));
}

TEST(Region, NoPendingGoalsCostNothing) {
    Given given(written(layers(), {}));
    const std::vector<Exit> exits = given.solve(3, 5, {});
    ASSERT_EQ(exits.size(), 1U);
    EXPECT_EQ(given.dag.cheapest(exits[0].set), (Path{0, {}}));
}

TEST(Region, ProvidedGoalsAreNotComputedOrProvidedAgain) {
    const auto cost = [](const State& inside) {
        Given given(written({{{1}}, {{2}}, {{3, {}, {1}}}}, {}));
        const auto exits = given.solve(1, 3, inside);
        return exits.empty() ? -1 : given.dag.cost(exits[0].set);
    };
    EXPECT_EQ(cost(state({provided(1)})), 0);
    EXPECT_EQ(cost(state({pending(1)})), 3);
    EXPECT_EQ(cost(state({pending(1), pending(0)})), 3) << "the upper goal brings the lower one";
    EXPECT_EQ(cost(state({pending(1), provided(0)})), -1) << "a value has one maker";
}

TEST(Region, AGoalWithoutAlternativesHasNoExit) {
    EXPECT_TRUE(Given(written({{}}, {})).solve(0, 1, state({pending(0)})).empty());
}

/// `count` goals, each of which depends on one of two below: every choice leaves another state.
SearchProblem wide(int count) {
    WrittenGoals goals(static_cast<std::size_t>(2 * count), {{1}});
    for (int i = 0; i < count; ++i) goals.push_back({{static_cast<double>(i % 2), {2 * i}}, {1, {2 * i + 1}}});
    return written(goals, {});
}

TEST(Region, BeyondItsLimitItKeepsTheCheapest) {
    State all;
    for (int i = 0; i < 12; ++i) add_goal(all, i, false);
    Given exact(wide(12)), rough(wide(12));
    const auto every = exact.solve(24, 36, all);
    EXPECT_TRUE(exact.limits.exact);
    EXPECT_EQ(every.size(), 4096U);
    rough.limits.state_limit = 1;
    const auto some = rough.solve(24, 36, all);
    EXPECT_FALSE(rough.limits.exact);
    EXPECT_LT(some.size(), 4096U);
    EXPECT_EQ(rough.dag.cost(some[0].set), exact.dag.cost(every[0].set));
}

TEST(Region, SolvesASetOfGoalsOnce) {
    Given given(wide(4));
    RegionSolver solver(given.presolved, given.dag, given.form(8, 12));
    const State inside = state({pending(3), pending(2)});
    const std::vector<Exit>* first = &solver.solve(inside, given.limits);
    const std::size_t once = given.limits.states;
    EXPECT_EQ(&solver.solve(inside, given.limits), first);
    EXPECT_EQ(given.limits.states, once);
}

TEST(Region, StopsOnRequest) {
    std::stop_source stop;
    stop.request_stop();
    Given given(written(layers(), {}));
    given.limits.stop = stop.get_token();
    EXPECT_TRUE(given.solve(3, 5, state({pending(0)})).empty());
}

}  // namespace
}  // namespace cairn::search::test
