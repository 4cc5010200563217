#include "search/sides.hpp"

#include "tests/search/random_problem.hpp"
#include "tests/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace cairn::search::test {
namespace {

struct Meeting {
    Problem problem;
    std::vector<int> side_of;
};

/// Several random problems, whose alternatives may need shared goals as well.
Meeting random_meeting(std::uint64_t seed, Make make, int sides) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    Meeting meeting;
    const int shared_goals = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < shared_goals; ++i) {
        meeting.problem.add_goal();
        meeting.problem.add_alternative(static_cast<double>(random() % 9) / 2, {}, {});
        meeting.side_of.push_back(shared);
    }
    for (int side = 0; side < sides; ++side) {
        const Problem own = random_problem(seed * 8 + static_cast<std::uint64_t>(side), make);
        const int base = meeting.problem.goals();
        const auto moved = [&](std::span<const int> goals) {
            std::vector<int> result;
            for (const int goal : goals) result.push_back(goal + base);
            return result;
        };
        for (int goal = 0; goal < own.goals(); ++goal) {
            meeting.problem.add_goal();
            meeting.side_of.push_back(side);
            for (int choice = own.first(goal); choice < own.first(goal + 1); ++choice) {
                const Alternative alternative = own.alternative(choice);
                std::vector<int> needs = moved(alternative.needs);
                for (int i = 0; i < shared_goals; ++i)
                    if (random() % 3 == 0) needs.push_back(i);
                meeting.problem.add_alternative(alternative.cost, needs, moved(alternative.provides));
            }
        }
        for (const int root : own.roots()) meeting.problem.add_root(root + base);
    }
    return meeting;
}

Exploration nothing_known() {
    Exploration known;
    known.status = Status::cut;
    known.exact = false;
    return known;
}

TEST(Sides, CheapestPathsAreThoseOfTheWhole) {
    int found = 0, without = 0, divided = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        Make make;
        make.goals = 2 + static_cast<int>(seed % 4);
        make.alternatives = make.goals + 3 + static_cast<int>(seed % 5);
        make.provides = seed % 2 == 1;
        make.ties = seed % 3 == 0;
        make.free = seed % 5 == 0;
        const auto [problem, side_of] = random_meeting(seed, make, 2 + static_cast<int>(seed % 2));
        ASSERT_EQ(fault(problem), "");
        ASSERT_EQ(fault_of_sides(problem, side_of), "");
        const Exploration whole = explore(problem);
        ASSERT_TRUE(whole.exact);
        const Exploration apart = explore_each_side(problem, side_of, {}, nothing_known());
        const Exploration either = explore_sides(problem, side_of);
        ASSERT_EQ(either.status, whole.status) << "seed " << seed;
        if (whole.status != Status::found) {
            EXPECT_NE(apart.status, Status::found) << "seed " << seed;
            ++without;
            continue;
        }
        ++found;
        ASSERT_EQ(apart.status, Status::found) << "seed " << seed;
        const Path path = apart.space.cheapest(apart.paths);
        EXPECT_TRUE(is_path(problem, path.choices)) << "seed " << seed;
        EXPECT_NEAR(path.cost, whole.space.cost(whole.paths), 1e-12 * path.cost) << "seed " << seed;
        divided += apart.exact;
        if (HasFailure()) return;
    }
    EXPECT_GT(found, 1000);
    EXPECT_GT(without, 100);
    EXPECT_EQ(divided, found) << "of each it is known that nothing is cheaper";
}

/// Sides in layers, each of which may read one of several forms of a weight of the layer: more states than may be
/// looked at.
Meeting layers_of_forms(std::uint64_t seed, int layers, int weights, int forms, int sides) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    std::uniform_real_distribution<double> real(1, 2);
    Meeting meeting;
    std::vector<int> last(static_cast<std::size_t>(sides), -1);
    for (int layer = 0; layer < layers; ++layer) {
        const int first = meeting.problem.goals();
        for (int i = 0; i < weights * forms; ++i) {
            meeting.problem.add_goal();
            meeting.problem.add_alternative(0.4, {}, {});
            meeting.side_of.push_back(shared);
        }
        for (int side = 0; side < sides; ++side)
            for (int weight = 0; weight < weights; ++weight) {
                int& before = last[static_cast<std::size_t>(side)];
                const int goal = meeting.problem.add_goal();
                meeting.side_of.push_back(side);
                for (int form = 0; form < forms; ++form) {
                    std::vector<int> needs{first + weight * forms + form};
                    if (before >= 0) needs.push_back(before);
                    meeting.problem.add_alternative(real(random), needs, {});
                }
                before = goal;
            }
    }
    for (const int goal : last) meeting.problem.add_root(goal);
    return meeting;
}

TEST(Sides, AreSearchedApartWhereTheWholeIsTooMuch) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const auto [problem, side_of] = layers_of_forms(seed, 4, 5, 4, 3);
        ASSERT_EQ(fault_of_sides(problem, side_of), "");
        const Exploration together = explore(problem);
        ASSERT_EQ(together.status, Status::found);
        EXPECT_FALSE(together.exact);
        const Exploration apart = explore_sides(problem, side_of);
        ASSERT_EQ(apart.status, Status::found);
        EXPECT_TRUE(apart.exact) << "seed " << seed;
        const Path path = apart.space.cheapest(apart.paths);
        EXPECT_TRUE(is_path(problem, path.choices));
        EXPECT_LE(path.cost, together.space.cost(together.paths));
        // Weights do not meet: the least of the whole is the sum of what is least for each.
        double least = 0;
        for (int goal = 0; goal < problem.goals(); goal += 5 * 4 + 3 * 5)
            for (int weight = 0; weight < 5; ++weight) {
                double best = 1e9;
                for (int kept = 1; kept < 1 << 4; ++kept) {
                    double cost = 0;
                    for (int form = 0; form < 4; ++form) cost += (kept >> form & 1) != 0 ? 0.4 : 0;
                    for (int side = 0; side < 3; ++side) {
                        const int first = problem.first(goal + 20 + side * 5 + weight);
                        double one = 1e9;
                        for (int form = 0; form < 4; ++form)
                            if ((kept >> form & 1) != 0) one = std::min(one, problem.cost(first + form));
                        cost += one;
                    }
                    best = std::min(best, cost);
                }
                least += best;
            }
        EXPECT_NEAR(path.cost, least, 1e-9);
    }
}

TEST(Sides, GiveWhatWasFoundWhereASideAloneIsTooMuch) {
    auto [problem, side_of] = layers_of_forms(9, 4, 5, 4, 3);
    std::fill(side_of.begin(), side_of.end(), 0);
    problem.add_root(problem.add_goal());
    problem.add_alternative(1, {}, {});
    side_of.push_back(1);
    EXPECT_EQ(explore_each_side(problem, side_of, {}, nothing_known()).status, Status::cut);
    const Exploration found = explore_sides(problem, side_of);
    ASSERT_EQ(found.status, Status::found);
    EXPECT_FALSE(found.exact);
    EXPECT_TRUE(is_path(problem, found.space.cheapest(found.paths).choices));
}

TEST(Sides, AnswerAStop) {
    const auto [problem, side_of] = layers_of_forms(9, 2, 6, 4, 3);
    std::stop_source source;
    source.request_stop();
    Options options;
    options.stop = source.get_token();
    EXPECT_EQ(explore_sides(problem, side_of, options).status, Status::stopped);
    EXPECT_EQ(explore_each_side(problem, side_of, options, nothing_known()).status, Status::stopped);
}

TEST(Sides, FaultsAreNamed) {
    const Problem problem = written({{{1, {}, {}}}, {{2, {0}, {}}}, {{3, {1}, {}}}}, {2});
    EXPECT_EQ(fault_of_sides(problem, std::vector<int>{shared, 0, 0}), "");
    EXPECT_EQ(fault_of_sides(problem, std::vector<int>{shared, 0}), "not every goal has a side");
    EXPECT_EQ(fault_of_sides(problem, std::vector<int>{shared, 0, shared}), "goal 2 is shared and a root");
    EXPECT_EQ(fault_of_sides(problem, std::vector<int>{0, shared, 0}),
              "goal 1 is shared and rests on others, or provides them");
    EXPECT_EQ(fault_of_sides(problem, std::vector<int>{shared, 0, 1}), "goal 2 rests on goal 1 of another side");
    EXPECT_EQ(fault_of_sides(problem, std::vector<int>{-2, 0, 0}), "goal 0 has a side below 0");
}

}  // namespace
}  // namespace cairn::search::test
