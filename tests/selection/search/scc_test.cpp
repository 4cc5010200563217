#include "selection/search/scc.hpp"

#include "selection/search/explore.hpp"
#include "tests/selection/search/random_problem.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cairn::search::test {
namespace {

/// Matches 3 (with 0) and 2 (with 1) each need what the other provides; separately they cost more. Choices 0, 1, 2 3, 4
/// 5.
const WrittenGoals two_matches = {{{5}}, {{5}}, {{1, {0}, {1}}, {4, {0}}}, {{1, {1}, {0}}, {4, {1}}}};

TEST(Scc, CyclesAreFoundAmongChoices) {
    const SearchProblem problem = written(two_matches, {2, 3});
    const auto among = [&](std::vector<int> choices) { return find_cycle(problem, choices); };
    EXPECT_GE(among({2, 4}), 0);
    EXPECT_LE(among({2, 4}), 1) << "each needs what the other provides";
    EXPECT_EQ(among({0, 2, 5}), -1);
    EXPECT_EQ(among({0, 1, 3, 5}), -1);
    EXPECT_EQ(among({}), -1);
}

TEST(Scc, AreGoalsThatMayDependOnOneAnother) {
    EXPECT_EQ(scc_of_goals(written(two_matches, {})), (std::vector<int>{0, 0, -1, -1}));
    EXPECT_EQ(scc_of_goals(written({{{1}}, {{1, {0}}}, {{1, {1}}}}, {})), (std::vector<int>{-1, -1, -1}));
    EXPECT_EQ(scc_of_goals(written({{{1}}, {{1}}, {{1, {0}, {1}}}}, {})), (std::vector<int>{-1, -1, -1}))
        << "what is provided leads no further back";
    EXPECT_EQ(scc_of_goals(SearchProblem()), std::vector<int>());
    // 3 provides 0 and needs 2, which needs 0; independently, 7 provides 4 and needs 6, which needs 5, which needs 4.
    const SearchProblem two =
        written({{{1}}, {{1}}, {{1, {0}}}, {{1, {2}, {0}}}, {{1}}, {{1, {4}}}, {{1, {5}}}, {{1, {6}, {4}}}}, {3, 7});
    const std::vector<int> sccs = scc_of_goals(two);
    EXPECT_TRUE(sccs[0] >= 0 && sccs[2] == sccs[0]);
    EXPECT_TRUE(sccs[4] >= 0 && sccs[5] == sccs[4] && sccs[6] == sccs[4]);
    EXPECT_NE(sccs[0], sccs[4]);
    for (const std::size_t alone : {1, 3, 7}) EXPECT_EQ(sccs[alone], -1);
}

/// By following every edge from every goal.
std::vector<std::vector<bool>> reached_from(const SearchProblem& problem) {
    const auto count = static_cast<std::size_t>(problem.goals());
    std::vector<std::vector<bool>> reached(count, std::vector<bool>(count, false));
    const auto lead = [&](int from, int to) {
        reached[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] = true;
    };
    for (int choice = 0; choice < problem.alternatives(); ++choice) {
        const Alternative alternative = problem.alternative(choice);
        for (const int need : alternative.needs) {
            lead(problem.goal_of(choice), need);
            for (const int provided : alternative.provides) lead(provided, need);
        }
    }
    for (std::size_t over = 0; over < count; ++over)
        for (std::size_t from = 0; from < count; ++from)
            for (std::size_t to = 0; reached[from][over] && to < count; ++to)
                if (reached[over][to]) reached[from][to] = true;
    return reached;
}

TEST(Scc, AreMutuallyReachableGoals) {
    int in_circles = 0, several = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        RandomProblemOptions make;
        make.goals = 8 + static_cast<int>(seed % 5);
        make.alternatives = 2 * make.goals;
        make.layers = 1 + static_cast<int>(seed % 3);
        const SearchProblem problem = random_problem(seed, make);
        const std::vector<std::vector<bool>> reached = reached_from(problem);
        const std::vector<int> sccs = scc_of_goals(problem);
        for (std::size_t a = 0; a < sccs.size(); ++a) {
            bool is_in_one = false;
            for (std::size_t b = 0; b < sccs.size(); ++b) {
                const bool together = a != b && reached[a][b] && reached[b][a];
                is_in_one = is_in_one || together;
                EXPECT_EQ(a != b && sccs[a] >= 0 && sccs[a] == sccs[b], together) << seed << ": " << a << ", " << b;
            }
            EXPECT_EQ(sccs[a] >= 0, is_in_one) << seed << ": " << a;
            in_circles += is_in_one ? 1 : 0;
        }
        several += !sccs.empty() && *std::max_element(sccs.begin(), sccs.end()) > 0 ? 1 : 0;
    }
    EXPECT_GT(in_circles, 100);
    EXPECT_GT(several, 5);
}

TEST(Scc, DoNotCountAsPaths) {
    const Exploration found = explore(written(two_matches, {2, 3}));
    const Path path = found.dag.cheapest(found.paths);
    EXPECT_EQ(path.cost, 10) << "one alternative with what it provides, its own need computed alone";
    EXPECT_EQ(find_cycle(written(two_matches, {2, 3}), path.choices), -1);
    EXPECT_TRUE(found.exact);
}

TEST(Scc, ManyOfThemAreSolvedExactly) {
    SearchProblem problem;
    for (int pair = 0; pair < 40; ++pair) {
        const int base = problem.goals();
        for (const auto& goal_alternatives : two_matches) {
            problem.add_goal();
            for (WrittenAlternative copy : goal_alternatives) {
                for (int& goal : copy.needs) goal += base;
                for (int& goal : copy.provides) goal += base;
                problem.add_alternative(copy.cost, copy.needs, copy.provides);
            }
        }
        problem.add_root(base + 2);
        problem.add_root(base + 3);
    }
    const Exploration found = explore(problem);
    EXPECT_EQ(found.dag.cost(found.paths), 400);
    EXPECT_EQ(find_cycle(problem, found.dag.cheapest(found.paths).choices), -1);
    EXPECT_TRUE(found.exact);
}

}  // namespace
}  // namespace cairn::search::test
