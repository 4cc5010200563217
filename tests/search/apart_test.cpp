#include "search/apart.hpp"

#include "search/sides.hpp"
#include "tests/search/random_meeting.hpp"
#include "tests/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
    int found = 0, without = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        const auto [problem, side_of] = random_meeting(seed);
        ASSERT_EQ(fault(problem), "");
        ASSERT_EQ(fault_of_sides(problem, side_of), "");
        const Exploration whole = explore(problem);
        ASSERT_TRUE(whole.exact);
        const Exploration apart = explore_apart(problem, side_of, {});
        if (whole.status != Status::found) {
            EXPECT_EQ(apart.status, Status::cut) << "seed " << seed;
            ++without;
            continue;
        }
        ++found;
        ASSERT_EQ(apart.status, Status::found) << "seed " << seed;
        EXPECT_TRUE(apart.exact) << "seed " << seed << ": it is known that nothing is cheaper";
        const Path path = apart.space.cheapest(apart.paths);
        EXPECT_TRUE(is_path(problem, path.choices)) << "seed " << seed;
        EXPECT_NEAR(path.cost, whole.space.cost(whole.paths), 1e-12 * path.cost) << "seed " << seed;
        if (HasFailure()) return;
    }
    EXPECT_GT(found, 1000);
    EXPECT_GT(without, 100);
}

TEST(Apart, IsCutWhereASideAloneIsTooMuch) {
    auto [problem, side_of] = layers_of_forms(9, 4, 5, 4, 3);
    std::fill(side_of.begin(), side_of.end(), 0);
    problem.add_root(problem.add_goal());
    problem.add_alternative(1, {}, {});
    side_of.push_back(1);
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
