#include "selection/search/substitution.hpp"

#include "selection/search/explore.hpp"
#include "selection/search/k_best.hpp"
#include "tests/selection/search/random_problem.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

/// Tests of goals that another one replaces in all paths.
namespace cairn::search::test {
namespace {

std::vector<int> replaceable(const SearchProblem& problem, double gap = 0) {
    const std::vector<bool> is_replaced = replaceable_goals(problem, no_sccs(problem), gap);
    std::vector<int> goals;
    for (std::size_t g = 0; g < is_replaced.size(); ++g)
        if (is_replaced[g]) goals.push_back(static_cast<int>(g));
    return goals;
}

const std::vector<int> none, first{0};

TEST(Substitution, AGoalIsReplacedByACheaperOneOfAllItsUsers) {
    EXPECT_EQ(replaceable(written({{{9}}, {{3}}, {{4, {0}}, {1, {1}}}}, {2})), first);
    EXPECT_EQ(replaceable(written({{{9}}, {{3}}, {{4, {0}}, {1, {1}}}, {{2, {0}}, {2, {1}}}}, {2, 3})), first);
    EXPECT_EQ(replaceable(written({{{9}}, {{3}}, {{4, {0}}, {1, {1}}}, {{2, {0}}}}, {2, 3})), none) << "3 has no twin";
    EXPECT_EQ(replaceable(written({{{9}}, {{9}}, {{4, {0}}, {4, {1}}}}, {2})), none) << "neither is cheaper";
}

TEST(Substitution, TheGainIsAboveTheAdditionalCostOfAllTwins) {
    const auto with_twins_of = [](double twin) {
        return written({{{9}}, {{3}}, {{1, {0}}, {twin, {1}}}, {{1, {0}}, {twin, {1}}}}, {2, 3});
    };
    EXPECT_EQ(replaceable(with_twins_of(3.9)), first);
    EXPECT_EQ(replaceable(with_twins_of(4.1)), none);
    // Of one goal only one alternative is chosen.
    EXPECT_EQ(replaceable(written({{{9}}, {{3}}, {{1, {0}}, {2, {0}}, {6.9, {1}}}}, {2})), first);
    EXPECT_EQ(replaceable(with_twins_of(2), 3.9), first);
    EXPECT_EQ(replaceable(with_twins_of(2), 4.1), none) << "paths within the gap stay";
}

// The forms are made of goal 0, which twins need through another goal.
TEST(Substitution, WhatTwinsNeedCountsOnce) {
    const auto packed_at = [](double pack) {
        return written(
            {{{5}}, {{9}}, {{3}}, {{1, {0}}}, {{pack, {0}}}, {{1, {1, 3}}, {1, {2, 4}}}, {{1, {1, 3}}, {1, {2, 4}}}},
            {5, 6});
    };
    EXPECT_EQ(replaceable(packed_at(6.9)), std::vector<int>{1}) << "6 less for the form, 1 less for goal 3";
    EXPECT_EQ(replaceable(packed_at(7.1)), std::vector<int>{2}) << "the other way round";
    // Goal 3 is still needed by another goal, so its cost is not saved.
    SearchProblem shared = packed_at(6.9);
    shared.add_goal();
    shared.add_alternative(1, {3}, {});
    shared.add_root(7);
    EXPECT_EQ(replaceable(shared), none);
}

TEST(Substitution, NotIfATwinNeedsWhatThePathMayLack) {
    EXPECT_EQ(replaceable(written({{{1}}, {{9}}, {{3, {0}}}, {{1, {1}}, {1, {2}}}}, {3})), none)
        << "goal 2 is not without needs";
    EXPECT_EQ(replaceable(written({{{100}}, {{9}}, {{3}}, {{1, {0}}}, {{1, {1}}, {1, {2, 3}}}}, {4})), none)
        << "goal 3 needs goal 0";
    EXPECT_EQ(replaceable(written({{{100}}, {{9}}, {{3}}, {{1, {0}}}, {{1, {0, 1}}, {1, {2, 3}}}}, {4})),
              std::vector<int>{1})
        << "goal 0 is needed in any case";
}

TEST(Substitution, NotRootsOrProvidedGoalsOrTwinsThatProvideOthers) {
    EXPECT_EQ(replaceable(written({{{9}}, {{3}}, {{4, {0}}, {1, {1}}}}, {0, 2})), none);
    EXPECT_EQ(replaceable(written({{{9}}, {{3}}, {{4, {0}}, {1, {1}}}, {{1, {}, {0}}}}, {2, 3})), none);
    EXPECT_EQ(replaceable(written({{{2}}, {{9}}, {{3}}, {{4, {1}}, {1, {2}, {0}}}}, {0, 3})), none);
    EXPECT_EQ(replaceable(written({{{2}}, {{9}}, {{3}}, {{4, {1}, {0}}, {1, {2}, {0}}}}, {0, 3})), std::vector<int>{1});
}

/// Forms of weights, each with a price, made or read as they are; products that choose among them, some of which read
/// the same weights, and provide others.
SearchProblem random_problem(std::mt19937& random) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const auto cost = [&] { return static_cast<double>(below(12)); };
    SearchProblem problem;
    struct Weight {
        std::vector<int> prices, forms;
    };
    std::vector<Weight> weights(1 + random() % 3);
    for (Weight& weight : weights) {
        const int source = problem.add_goal();
        problem.add_alternative(cost(), {}, {});
        for (int form = 0; form < 3; ++form) {
            weight.prices.push_back(problem.add_goal());
            problem.add_alternative(cost(), {}, {});
            weight.forms.push_back(problem.add_goal());
            if (below(2) == 0)
                problem.add_alternative(cost(), {source}, {});
            else
                problem.add_alternative(cost(), {}, {});
        }
    }
    std::vector<int> products;
    for (int p = 0; p < 3; ++p) {
        const int product = problem.add_goal();
        for (int a = 0; a < 4; ++a) {
            std::vector<int> needs, provides;
            const Weight& weight = weights[random() % weights.size()];
            const auto form = static_cast<std::size_t>(below(3));
            needs = {weight.prices[form], weight.forms[form]};
            if (!products.empty() && below(2) == 0) needs.push_back(products.back());
            if (products.size() > 1 && below(4) == 0) provides.push_back(products.front());
            problem.add_alternative(cost(), needs, provides);
        }
        products.push_back(product);
    }
    problem.add_root(products.back());
    if (below(2) == 0) problem.add_root(products.front());
    return problem;
}

/// The costs of the paths that cost at most `gap` more than the cheapest, ascending, and the number of all.
struct Costs {
    std::vector<double> within = {};
    std::size_t all = 0;
    void add(double cost, double gap) {
        ++all;
        if (within.empty() || cost <= within.front() + gap) within.push_back(cost);
    }
};

Costs found_within(const SearchProblem& problem, double gap) {
    const Exploration found = explore(problem, {.only_cheapest = false, .gap = gap});
    Costs costs;
    if (found.status != Status::found) return costs;
    KBestPaths paths(found.dag, found.paths);
    while (const std::optional<double> cost = paths.next()) costs.add(*cost, gap);
    return costs;
}

Costs expected_within(const SearchProblem& problem, double gap) {
    Costs costs;
    for (const Path& path : all_paths(problem)) costs.add(path.cost, gap);
    return costs;
}

TEST(Substitution, NoPathWithinTheGapIsLost) {
    std::mt19937 random(7);
    int replaced = 0, fewer = 0;
    for (int round = 0; round < 3000; ++round) {
        const SearchProblem problem = random_problem(random);
        const double gap = static_cast<double>(random() % 8);
        replaced += replaceable(problem, gap).empty() ? 0 : 1;
        const Costs expected = expected_within(problem, gap), found = found_within(problem, gap);
        ASSERT_EQ(found.within, expected.within) << round;
        if (expected.all == 0) continue;
        fewer += found.all < expected.all ? 1 : 0;
        const Exploration cheapest = explore(problem);
        EXPECT_EQ(cheapest.dag.cost(cheapest.paths), expected.within.front()) << round;
    }
    EXPECT_GT(replaced, 300);
    EXPECT_GT(fewer, 300);
}

}  // namespace
}  // namespace cairn::search::test
