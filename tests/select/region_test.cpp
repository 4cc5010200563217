#include "select/region.hpp"

#include "cairn/error.hpp"

#include <gtest/gtest.h>

namespace cairn::select {
namespace {

// That regions solved and chained give the optimum, brute force shows in frontier_test.cpp.

Frontier frontier(std::initializer_list<char32_t> codes) { return Frontier(codes); }
constexpr char32_t pending(char32_t goal) { return goal << 1; }
constexpr char32_t provided(char32_t goal) { return goal << 1 | 1U; }

TEST(Region, AFrontierHoldsEachGoalOnceHighestFirst) {
    Frontier f;
    add_goal(f, 3, false);
    add_goal(f, 7, false);
    add_goal(f, 0, false);
    add_goal(f, 3, false);
    EXPECT_EQ(f, frontier({pending(7), pending(3), pending(0)}));
}

TEST(Region, AProvidedGoalStaysProvided) {
    Frontier f;
    add_goal(f, 3, false);
    EXPECT_FALSE(is_provided(f, 3));
    add_goal(f, 3, true);
    add_goal(f, 3, false);
    add_goal(f, 5, false);
    EXPECT_EQ(f, frontier({pending(5), provided(3)}));
    EXPECT_TRUE(is_provided(f, 3));
    EXPECT_FALSE(is_provided(f, 5));
    EXPECT_FALSE(is_provided({}, 0));
}

/// Goal 0 below everything, then layers of two goals, the upper of which rests on the layer below and on 0.
SearchProblem layers(double cost_of_the_last = 5) {
    SearchProblem problem;
    problem.goals = {{{1, {}, {}}},
                     {{2, {0}, {}}},
                     {{5, {1, 0}, {}}},
                     {{2, {2}, {}}},
                     {{5, {3, 0}, {}}},
                     {{2, {4}, {}}},
                     {{cost_of_the_last, {5, 0}, {}}}};
    return problem;
}

TEST(Region, EqualMakeHasEqualForm) {
    const SearchProblem problem = layers();
    const RegionForm low = form_of(problem, 3, 5), high = form_of(problem, 5, 7);
    EXPECT_EQ(low.signature, high.signature);
    EXPECT_EQ(low.ports, (std::vector<int>{0, 2}));
    EXPECT_EQ(high.ports, (std::vector<int>{0, 4}));
    EXPECT_NE(form_of(problem, 1, 3).signature, low.signature) << "there both ports are one goal";
}

TEST(Region, CostsAndByProductsAreOfTheForm) {
    EXPECT_NE(form_of(layers(5.0000001), 5, 7).signature, form_of(layers(), 5, 7).signature);
    SearchProblem provides = layers();
    provides.goals[6][0] = {5, {5}, {0}};
    EXPECT_NE(form_of(provides, 5, 7).signature, form_of(layers(), 5, 7).signature);
    EXPECT_EQ(form_of(layers(), 3, 3).signature, std::u32string()) << "no goals, no form";
}

struct Solved {
    std::vector<Exit> exits;
    bool exact = true;
    std::size_t states = 0;
};

Solved solve(const SearchProblem& problem, int low, int high, const Frontier& inside,
             const SearchOptions& options = {}) {
    RegionSolver solver(problem, form_of(problem, low, high));
    Solved result;
    result.exits = solver.solve(inside, options, result.states, result.exact);
    return result;
}

TEST(Region, ExitsAreTheCheapestWayToEachSetOfPorts) {
    SearchProblem problem;
    problem.goals = {{{1, {}, {}}}, {{1, {}, {}}}, {{4, {0}, {}}, {3, {0}, {}}, {9, {1}, {}}}};
    const Solved solved = solve(problem, 2, 3, frontier({pending(2)}));
    ASSERT_EQ(solved.exits.size(), 2U);
    EXPECT_EQ(solved.exits[0].cost, 3);
    EXPECT_EQ(solved.exits[0].ports, frontier({pending(0)}));
    EXPECT_EQ(solved.exits[0].choices, (std::vector<std::pair<int, int>>{{0, 1}}));
    EXPECT_EQ(solved.exits[1].cost, 9);
    EXPECT_EQ(solved.exits[1].ports, frontier({pending(1)}));
}

TEST(Region, NothingPendingCostsNothing) {
    const Solved solved = solve(layers(), 3, 5, {});
    ASSERT_EQ(solved.exits.size(), 1U);
    EXPECT_EQ(solved.exits[0].cost, 0);
    EXPECT_TRUE(solved.exits[0].choices.empty());
}

TEST(Region, WhatIsProvidedIsNotMadeNorProvidedAgain) {
    SearchProblem problem;
    problem.goals = {{{1, {}, {}}}, {{2, {}, {}}}, {{3, {}, {1}}}};
    const auto cost = [&](const Frontier& inside) {
        const auto exits = solve(problem, 1, 3, inside).exits;
        return exits.empty() ? -1 : exits[0].cost;
    };
    EXPECT_EQ(cost(frontier({provided(1)})), 0);
    EXPECT_EQ(cost(frontier({pending(1)})), 3);
    EXPECT_EQ(cost(frontier({pending(1), pending(0)})), 3) << "the upper goal brings the lower one";
    EXPECT_EQ(cost(frontier({pending(1), provided(0)})), -1) << "a value has one maker";
}

TEST(Region, AGoalWithoutAlternativesHasNoExit) {
    SearchProblem problem;
    problem.goals = {{}};
    EXPECT_TRUE(solve(problem, 0, 1, frontier({pending(0)})).exits.empty());
}

/// `count` goals of which each rests on one of two below: every choice leaves another frontier.
SearchProblem wide(int count) {
    SearchProblem problem;
    for (int i = 0; i < 2 * count; ++i) problem.goals.push_back({{1, {}, {}}});
    for (int i = 0; i < count; ++i)
        problem.goals.push_back({{static_cast<double>(i % 2), {2 * i}, {}}, {1, {2 * i + 1}, {}}});
    return problem;
}

TEST(Region, PastItsLimitItFollowsTheCheapest) {
    const SearchProblem problem = wide(12);
    Frontier all;
    for (char32_t i = 0; i < 12; ++i) add_goal(all, 24 + i, false);
    EXPECT_TRUE(solve(problem, 24, 36, all).exact);
    EXPECT_EQ(solve(problem, 24, 36, all).exits.size(), 4096U);
    const Solved rough = solve(problem, 24, 36, all, {.state_limit = 1});
    EXPECT_FALSE(rough.exact);
    EXPECT_LT(rough.exits.size(), 4096U);
    EXPECT_EQ(rough.exits[0].cost, solve(problem, 24, 36, all).exits[0].cost);
}

TEST(Region, SolvesASetOfGoalsOnce) {
    const SearchProblem problem = wide(4);
    RegionSolver solver(problem, form_of(problem, 8, 12));
    std::size_t states = 0;
    bool exact = true;
    const Frontier inside = frontier({pending(11), pending(10)});
    const std::vector<Exit>* first = &solver.solve(inside, {}, states, exact);
    const std::size_t once = states;
    EXPECT_EQ(&solver.solve(inside, {}, states, exact), first);
    EXPECT_EQ(states, once);
}

TEST(Region, Stops) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(solve(layers(), 3, 5, frontier({pending(3)}), {.stop = stop.get_token()}), Cancelled);
}

}  // namespace
}  // namespace cairn::select
