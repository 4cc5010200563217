#include "search/best.hpp"

#include "search/explore.hpp"
#include "tests/search/written_problem.hpp"

#include <gtest/gtest.h>

namespace cairn::search::test {
namespace {

// That the order is right and whole, brute force shows in explore_test.cpp.

TEST(BestFirst, GivesThePathsInTheOrderOfTheirCosts) {
    Options options;
    options.only_cheapest = false;
    const Exploration found = explore(written({{{1}, {4}}, {{2, {0}}, {7}}}, {1}), options);
    BestFirst best(found.space, found.paths);
    EXPECT_EQ(best.found(), 0U);
    for (const double cost : {3, 6, 7}) EXPECT_EQ(best.next(), cost);
    EXPECT_EQ(best.next(), std::nullopt);
    EXPECT_EQ(best.next(), std::nullopt);
    EXPECT_EQ(best.found(), 3U);
    EXPECT_EQ(best.path(0), (Path{3, {0, 2}}));
    EXPECT_EQ(best.path(1), (Path{6, {1, 2}}));
    EXPECT_EQ(best.path(2), (Path{7, {3}}));
}

TEST(BestFirst, OfNothingNothing) {
    Space space;
    EXPECT_EQ(BestFirst(space, Space::none).next(), std::nullopt);
    for (const Set set : {Space::done, space.choice(5, 2)}) {
        BestFirst best(space, set);
        EXPECT_EQ(best.next(), space.cost(set));
        EXPECT_EQ(best.next(), std::nullopt);
        EXPECT_EQ(best.found(), 1U);
        EXPECT_EQ(best.path(0), space.cheapest(set));
    }
}

TEST(BestFirst, ADeepSpaceTakesNoDeepStack) {
    // Each set is the one below or one more choice: 2^20000 paths.
    Space space;
    Set set = Space::done;
    for (int depth = 0; depth < 20'000; ++depth) {
        Space::Sum sum;
        space.add(sum, set, space.choice(2 * depth, 1));
        space.add(sum, set, space.choice(2 * depth + 1, 2));
        set = space.set_of(sum);
    }
    BestFirst best(space, set);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(best.next(), i == 0 ? 20'000 : 20'001);
    EXPECT_EQ(best.path(99).cost, 20'001);
}

}  // namespace
}  // namespace cairn::search::test
