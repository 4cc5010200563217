#include "select/frontier.hpp"

#include "cairn/error.hpp"
#include "select/circles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace cairn::select {
namespace {

/// The sum over the alternatives chosen, or infinity where the choice does not hold together.
double cost_of(const SearchProblem& problem, const std::vector<int>& choice) {
    std::set<int> provided, by_products, wanted(problem.roots.begin(), problem.roots.end());
    double cost = 0;
    for (std::size_t g = 0; g < choice.size(); ++g)
        if (choice[g] >= 0) {
            const Alternative& alternative = problem.goals[g][static_cast<std::size_t>(choice[g])];
            cost += alternative.cost;
            provided.insert(static_cast<int>(g));
            for (const int goal : alternative.provides)
                if (!by_products.insert(goal).second) return std::numeric_limits<double>::infinity();
            wanted.insert(alternative.needs.begin(), alternative.needs.end());
        }
    // A tile is entered through its highest output, and a value has one maker: nothing is made for its by-products
    // alone.
    for (const int g : provided)
        if (!wanted.contains(g) || by_products.contains(g)) return std::numeric_limits<double>::infinity();
    provided.insert(by_products.begin(), by_products.end());
    if (!circle_of(problem, choice).empty()) return std::numeric_limits<double>::infinity();
    const auto missing = [&](int goal) { return !provided.contains(goal); };
    if (std::any_of(problem.roots.begin(), problem.roots.end(), missing))
        return std::numeric_limits<double>::infinity();
    for (std::size_t g = 0; g < choice.size(); ++g)
        if (choice[g] >= 0) {
            const auto& needs = problem.goals[g][static_cast<std::size_t>(choice[g])].needs;
            if (std::any_of(needs.begin(), needs.end(), missing)) return std::numeric_limits<double>::infinity();
        }
    return cost;
}

/// Whether a goal is a root or rests under something chosen.
bool is_wanted(const SearchProblem& problem, const std::vector<int>& choice, int goal) {
    if (std::count(problem.roots.begin(), problem.roots.end(), goal) > 0) return true;
    for (std::size_t g = 0; g < choice.size(); ++g)
        if (choice[g] >= 0) {
            const auto& needs = problem.goals[g][static_cast<std::size_t>(choice[g])].needs;
            if (std::count(needs.begin(), needs.end(), goal) > 0) return true;
        }
    return false;
}

/// Every combination of choices, the plain way.
double brute_force(const SearchProblem& problem) {
    std::vector<int> choice(problem.goals.size(), -1);
    double best = std::numeric_limits<double>::infinity();
    while (true) {
        best = std::min(best, cost_of(problem, choice));
        std::size_t g = 0;
        while (g < choice.size() && ++choice[g] == static_cast<int>(problem.goals[g].size())) choice[g++] = -1;
        if (g == choice.size()) return best;
    }
}

/// With `only_along` some goals have no alternative of their own: they come along with a higher one or not at all.
SearchProblem random_problem(std::uint32_t seed, int goals, bool multi_output, bool only_along = false) {
    std::mt19937 random(seed);
    SearchProblem problem;
    for (int g = 0; g < goals; ++g) {
        auto& alternatives = problem.goals.emplace_back();
        const int count = only_along && random() % 3 == 0 ? 0 : 1 + static_cast<int>(random() % 3);
        for (int a = 0; a < count; ++a) {
            Alternative alternative;
            alternative.cost = static_cast<double>(1 + random() % 64);
            std::set<int> needs, provides;
            for (int k = 0; k < 3 && g > 0; ++k)
                if (random() % 2 == 0) needs.insert(static_cast<int>(random() % static_cast<unsigned>(g)));
            if (multi_output && g > 0 && random() % 3 == 0)
                provides.insert(static_cast<int>(random() % static_cast<unsigned>(g)));
            for (const int goal : provides) needs.erase(goal);
            alternative.needs.assign(needs.begin(), needs.end());
            alternative.provides.assign(provides.begin(), provides.end());
            alternatives.push_back(alternative);
        }
    }
    problem.roots = {goals - 1};
    if (goals > 3 && random() % 2 == 0) problem.roots.push_back(goals / 2);
    if (only_along && random() % 2 == 0) problem.roots.push_back(0);
    return problem;
}

TEST(Frontier, FindsTheOptimumThatBruteForceFinds) {
    int solved = 0, along = 0;
    for (std::uint32_t seed = 0; seed < 3000; ++seed) {
        const bool only_along = seed % 8 == 0 || seed % 8 == 4 || seed % 8 == 6;
        const SearchProblem problem = random_problem(seed, 3 + static_cast<int>(seed % 6), seed % 2 == 0, only_along);
        const double best = brute_force(problem);
        for (const bool share : {false, true}) {
            if (std::isinf(best)) {
                EXPECT_THROW(search(problem, {.share_regions = share}), Error) << "seed " << seed;
                continue;
            }
            const SearchResult result = search(problem, {.share_regions = share});
            EXPECT_DOUBLE_EQ(result.cost, best) << "seed " << seed;
            ++solved;
            EXPECT_DOUBLE_EQ(cost_of(problem, result.choice), result.cost) << "seed " << seed;
            EXPECT_TRUE(result.exact);
            for (std::size_t g = 0; g < problem.goals.size(); ++g)
                along += problem.goals[g].empty() && is_wanted(problem, result.choice, static_cast<int>(g));
        }
    }
    EXPECT_GT(solved, 4500);
    EXPECT_GT(along, 100);
}

TEST(Frontier, CountsSharedWorkOnce) {
    // 0 is dear and used by both 1 and 2; 3 could be made from them, or alone for a little more than all of that.
    SearchProblem problem;
    problem.goals = {{{10, {}, {}}}, {{1, {0}, {}}}, {{1, {0}, {}}}, {{1, {1, 2}, {}}, {14, {}, {}}}};
    problem.roots = {3};
    const SearchResult result = search(problem);
    EXPECT_DOUBLE_EQ(result.cost, 13);
    EXPECT_EQ(result.choice, (std::vector<int>{0, 0, 0, 0}));
}

TEST(Frontier, TakesAValueFromATileThatProvidesIt) {
    // Goal 1 is wanted outside; goal 2 can be made so that 1 comes with it.
    SearchProblem problem;
    problem.goals = {{{1, {}, {}}}, {{5, {0}, {}}}, {{3, {1}, {}}, {6, {0}, {1}}}};
    problem.roots = {2, 1};
    const SearchResult result = search(problem);
    EXPECT_DOUBLE_EQ(result.cost, 7);
    EXPECT_EQ(result.choice, (std::vector<int>{0, -1, 1}));
}

TEST(Frontier, TakesAlongWhatCanOnlyComeAlong) {
    // Nothing makes goal 0 for its own sake; the cheaper way to goal 2 brings it.
    SearchProblem problem;
    problem.goals = {{}, {{1, {}, {}}}, {{3, {1}, {0}}, {6, {1}, {}}, {0.5, {0}, {}}}};
    problem.roots = {2};
    const SearchResult result = search(problem);
    EXPECT_DOUBLE_EQ(result.cost, 4);
    EXPECT_EQ(result.choice, (std::vector<int>{-1, 0, 0}));
}

TEST(Frontier, RestsOnWhatCanOnlyComeAlong) {
    // Goal 1 brings 0, which the cheap way to goal 2 needs.
    SearchProblem problem;
    problem.goals = {{}, {{1, {}, {0}}}, {{1, {0}, {}}, {5, {1}, {}}}};
    problem.roots = {2, 1};
    EXPECT_DOUBLE_EQ(search(problem).cost, 2);
    problem.goals[2].pop_back();
    EXPECT_DOUBLE_EQ(search(problem).cost, 2);
    problem.roots = {1, 0};
    EXPECT_DOUBLE_EQ(search(problem).cost, 1);
}

TEST(Frontier, SaysThatGoalsExcludeEachOther) {
    // 1 and 2 can each be reached, but both bring 0, which has one maker.
    SearchProblem problem;
    problem.goals = {{}, {{1, {}, {0}}}, {{1, {}, {0}}}};
    problem.roots = {1, 2};
    try {
        search(problem);
        FAIL() << "expected an Error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        EXPECT_STREQ(error.what(), "[select] each goal can be reached, but not all of them at once");
    }
}

/// `count` layers of the same make, each with a choice between a dear tile and cheap steps, over a value all of them
/// need; every other step is wanted for itself.
SearchProblem layers(int count) {
    SearchProblem problem;
    problem.goals.push_back({{1, {}, {}}});
    problem.goals.push_back({{1, {}, {}}});
    for (int layer = 0; layer < count; ++layer) {
        const int below = static_cast<int>(problem.goals.size()) - 1;
        for (int i = 0; i < 6; ++i) {
            const int g = static_cast<int>(problem.goals.size());
            Alternative step{1, {g - 1, 0}, {}}, leap{3.5, {below, 0}, {}};
            problem.goals.push_back({step, leap});
            if (i % 2 == 1) problem.roots.push_back(g);
        }
    }
    return problem;
}

TEST(Frontier, SolvesEqualLayersOnce) {
    const SearchResult few = search(layers(4)), many = search(layers(96));
    EXPECT_GT(many.regions, 10 * few.regions_solved);
    EXPECT_LE(many.regions_solved, few.regions_solved + 1);
    EXPECT_LE(many.states, few.states + 64);
    EXPECT_DOUBLE_EQ(search(layers(96), {.share_regions = false}).cost, many.cost);
}

TEST(Frontier, DecidesAChainWithoutASearch) {
    // Each step is needed by the next alone: all of them become one goal .
    SearchProblem problem = layers(96);
    problem.roots = {static_cast<int>(problem.goals.size()) - 1};
    const SearchResult result = search(problem);
    EXPECT_LE(result.states, 8U);
    EXPECT_DOUBLE_EQ(cost_of(problem, result.choice), result.cost);
}

TEST(Frontier, StaysConsistentPastItsLimit) {
    const SearchProblem problem = random_problem(7, 60, true);
    const SearchResult exact = search(problem);
    const SearchResult rough = search(problem, {.state_limit = 1, .share_regions = false});
    EXPECT_DOUBLE_EQ(cost_of(problem, rough.choice), rough.cost);
    EXPECT_GE(rough.cost, exact.cost);
}

TEST(Frontier, NamesAGoalThatCannotBeReached) {
    SearchProblem problem;
    problem.goals = {{}, {{1, {0}, {}}}};
    problem.roots = {1};
    try {
        search(problem);
        FAIL() << "expected an Error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        EXPECT_STREQ(error.what(), "[select] goal 1 cannot be reached");
    }
}

}  // namespace
}  // namespace cairn::select
