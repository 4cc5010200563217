#include "search/apart.hpp"

#include "search/sides.hpp"
#include "tests/search/random_meeting.hpp"
#include "tests/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::search::test {
namespace {

// Two sides that would each take a form of their own: 0 costs 3 to keep and 1 costs 4.5. Together they take one.
TEST(Apart, ASharedGoalIsPaidForOnce) {
    const Problem problem = written({{{3}}, {{4.5}}, {{1, {0}}, {2, {1}}}, {{3, {0}}, {1, {1}}}}, {2, 3});
    const std::vector<int> side_of{shared, shared, 0, 1};
    const Exploration found = explore_apart(problem, side_of, {});
    ASSERT_EQ(found.status, Status::found);
    EXPECT_TRUE(found.exact);
    EXPECT_EQ(found.space.cheapest(found.paths), (Path{7, {0, 2, 4}}));
    EXPECT_EQ(found.low, 7);
}

TEST(Apart, CheapestPathsAreThoseOfTheWhole) {
    expect_the_cheapest([](const Meeting& meeting) { return explore_apart(meeting.problem, meeting.side_of, {}); },
                        [](const Exploration&) { return Status::cut; });
}

// Equal shares of equal layers, and shares of their own, leave it to the search together.
TEST(Apart, WhatNoSharesProveIsSearched) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto [problem, side_of] = layers_without_a_form_for_all(seed, 6);
        const Exploration whole = explore(problem);
        ASSERT_TRUE(whole.exact);
        const Exploration found = explore_apart(problem, side_of, {});
        ASSERT_EQ(found.status, Status::found);
        EXPECT_TRUE(found.exact) << seed;
        EXPECT_NEAR(found.space.cost(found.paths), whole.space.cost(whole.paths), 1e-9) << seed;
    }
}

TEST(Apart, IsCutWhereASideAloneIsTooMuch) {
    const auto [problem, side_of] = with_a_side_too_large();
    EXPECT_EQ(explore_apart(problem, side_of, {}).status, Status::cut);
}

TEST(Apart, AnswersAStop) {
    const auto [problem, side_of] = layers_of_forms(9, 2, 6, 4, 3);
    std::stop_source source;
    source.request_stop();
    Options options;
    options.stop = source.get_token();
    EXPECT_EQ(explore_apart(problem, side_of, options).status, Status::stopped);
}

}  // namespace
}  // namespace cairn::search::test
