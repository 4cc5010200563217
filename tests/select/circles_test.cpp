#include "select/circles.hpp"

#include <gtest/gtest.h>

namespace cairn::select {
namespace {

/// Tiles 3 (with 0) and 2 (with 1) each need what the other brings; apart they cost more.
SearchProblem two_tiles() {
    SearchProblem problem;
    problem.goals = {{{5, {}, {}}}, {{5, {}, {}}}, {{1, {0}, {1}}, {4, {0}, {}}}, {{1, {1}, {0}}, {4, {1}, {}}}};
    problem.roots = {2, 3};
    return problem;
}

TEST(Circles, AreFoundWithAllTheirMembers) {
    EXPECT_EQ(circle_of(two_tiles(), {-1, -1, 0, 0}), (std::vector<AlternativeId>{{3, 0}, {2, 0}}));
    EXPECT_TRUE(circle_of(two_tiles(), {0, -1, 0, 1}).empty());
    EXPECT_TRUE(circle_of(two_tiles(), {0, 0, 1, 1}).empty());
}

TEST(Circles, DoNotCountAsChoices) {
    const SearchResult result = search(two_tiles());
    EXPECT_DOUBLE_EQ(result.cost, 10);  // one tile with what it brings, its own need made alone
    EXPECT_TRUE(circle_of(two_tiles(), result.choice).empty());
    EXPECT_TRUE(result.exact);
}

TEST(Circles, ManyOfThemCostExactnessOnly) {
    SearchProblem problem;
    for (int pair = 0; pair < 40; ++pair) {
        const int base = static_cast<int>(problem.goals.size());
        for (auto alternatives : two_tiles().goals) {
            for (Alternative& alternative : alternatives) {
                for (int& goal : alternative.needs) goal += base;
                for (int& goal : alternative.provides) goal += base;
            }
            problem.goals.push_back(alternatives);
        }
        problem.roots.push_back(base + 2);
        problem.roots.push_back(base + 3);
    }
    const SearchResult result = search(problem);
    EXPECT_TRUE(circle_of(problem, result.choice).empty());
    EXPECT_FALSE(result.exact);
}

}  // namespace
}  // namespace cairn::select
