#include "search/circles.hpp"

#include "search/explore.hpp"
#include "tests/search/written_problem.hpp"

#include <gtest/gtest.h>

namespace cairn::search::test {
namespace {

/// Tiles 3 (with 0) and 2 (with 1) each need what the other brings; apart they cost more. Choices 0, 1, 2 3, 4 5.
const Ways two_tiles = {{{5}}, {{5}}, {{1, {0}, {1}}, {4, {0}}}, {{1, {1}, {0}}, {4, {1}}}};

TEST(Circles, AreFoundAmongChoices) {
    const Problem problem = written(two_tiles, {2, 3});
    const auto among = [&](std::vector<int> choices) { return circle_among(problem, choices); };
    EXPECT_GE(among({2, 4}), 0);
    EXPECT_LE(among({2, 4}), 1) << "each rests on what the other provides";
    EXPECT_EQ(among({0, 2, 5}), -1);
    EXPECT_EQ(among({0, 1, 3, 5}), -1);
    EXPECT_EQ(among({}), -1);
}

TEST(Circles, AreTheGoalsThatMayComeIntoThem) {
    EXPECT_EQ(circles_of(written(two_tiles, {})), (std::vector<int>{0, 0, -1, -1}));
    EXPECT_EQ(circles_of(written({{{1}}, {{1, {0}}}, {{1, {1}}}}, {})), (std::vector<int>{-1, -1, -1}));
    EXPECT_EQ(circles_of(written({{{1}}, {{1}}, {{1, {0}, {1}}}}, {})), (std::vector<int>{-1, -1, -1}))
        << "what is provided leads no further back";
    EXPECT_EQ(circles_of(Problem()), std::vector<int>());
    // 3 provides 0 and needs 2, which needs 0; apart from them 7 provides 4 and needs 6, which needs 5, which needs 4.
    const Problem two =
        written({{{1}}, {{1}}, {{1, {0}}}, {{1, {2}, {0}}}, {{1}}, {{1, {4}}}, {{1, {5}}}, {{1, {6}, {4}}}}, {3, 7});
    const std::vector<int> circles = circles_of(two);
    EXPECT_TRUE(circles[0] >= 0 && circles[2] == circles[0]);
    EXPECT_TRUE(circles[4] >= 0 && circles[5] == circles[4] && circles[6] == circles[4]);
    EXPECT_NE(circles[0], circles[4]);
    for (const std::size_t alone : {1, 3, 7}) EXPECT_EQ(circles[alone], -1);
}

TEST(Circles, DoNotCountAsPaths) {
    const Exploration found = explore(written(two_tiles, {2, 3}));
    const Path path = found.space.cheapest(found.paths);
    EXPECT_EQ(path.cost, 10) << "one tile with what it brings, its own need made alone";
    EXPECT_EQ(circle_among(written(two_tiles, {2, 3}), path.choices), -1);
    EXPECT_TRUE(found.exact);
}

TEST(Circles, ManyOfThemAreSolvedExactly) {
    Problem problem;
    for (int pair = 0; pair < 40; ++pair) {
        const int base = problem.goals();
        for (const auto& ways : two_tiles) {
            problem.add_goal();
            for (Way way : ways) {
                for (int& goal : way.needs) goal += base;
                for (int& goal : way.provides) goal += base;
                problem.add_alternative(way.cost, way.needs, way.provides);
            }
        }
        problem.add_root(base + 2);
        problem.add_root(base + 3);
    }
    const Exploration found = explore(problem);
    EXPECT_EQ(found.space.cost(found.paths), 400);
    EXPECT_EQ(circle_among(problem, found.space.cheapest(found.paths).choices), -1);
    EXPECT_TRUE(found.exact);
}

}  // namespace
}  // namespace cairn::search::test
