#include "selection/search/equal_segments.hpp"

#include "selection/search/chain.hpp"
#include "tests/selection/search/random_decomposition.hpp"
#include "tests/selection/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace cairn::search::test {
namespace {

GoalFlags no_marks(const SearchProblem& problem) {
    const std::vector<std::uint8_t> none(static_cast<std::size_t>(problem.goals()), 0);
    return {none, none};
}

std::vector<std::size_t> equal_segments(const SearchProblem& problem, const std::vector<int>& cuts,
                                        const GoalFlags& flags) {
    std::vector<std::size_t> found;
    for (const Segment& segment : segments_between(problem, cuts, flags)) found.push_back(segment.equal_to);
    return found;
}

// Goals 0 and 1, then two segments of two goals that depend on them.
SearchProblem two_segments(const WrittenAlternative& first, const WrittenAlternative& second) {
    return written({{{1}}, {{1}}, {{3, {0}}}, {first, {5}}, {{3, {1}}}, {second, {5}}}, {3, 5});
}

TEST(EqualSegments, SegmentsAreEqualUpToNumbering) {
    const std::vector<int> cuts{0, 2, 4, 6};
    const SearchProblem problem = two_segments({2, {2, 0}}, {2, {4, 1}});
    const std::vector<Segment> segments = segments_between(problem, cuts, no_marks(problem));
    ASSERT_EQ(segments.size(), 3);
    EXPECT_EQ(segments[2].equal_to, 1);
    EXPECT_EQ(segments[2].low, 4);
    EXPECT_EQ(segments[2].high, 6);
    EXPECT_EQ(segments[2].below, (std::vector<std::pair<int, int>>{{0, 1}}));
    const std::vector<std::size_t> differ{0, 1, 2};
    const auto of = [&](const WrittenAlternative& first, const WrittenAlternative& second) {
        const SearchProblem other = two_segments(first, second);
        return equal_segments(other, cuts, no_marks(other));
    };
    EXPECT_EQ(of({2, {2, 0}}, {7, {4, 1}}), differ) << "in what one costs";
    EXPECT_EQ(of({2, {2, 0}}, {2, {1}}), differ) << "in what one needs";
    EXPECT_EQ(of({2, {0}, {2}}, {2, {4, 1}}), differ) << "in what comes along";
    EXPECT_EQ(of({2, {2, 0}}, {2, {4, 0}}), differ) << "1 stands for 0 elsewhere";
    EXPECT_EQ(of({2, {0, 1}}, {2, {0, 1}}), differ) << "0 stands for itself";
    EXPECT_EQ(of({2, {1}}, {2, {0}}), differ) << "in the other order";
    EXPECT_EQ(of({2, {1}}, {2, {1}}), differ) << "1 stands for both";
}

TEST(EqualSegments, SegmentsAreEqualOnlyWithEqualFlags) {
    const std::vector<int> cuts{0, 2, 4, 6};
    const SearchProblem problem = two_segments({2, {2, 0}}, {2, {4, 1}});
    GoalFlags flags = no_marks(problem);
    flags.inside[1] = 1;
    EXPECT_EQ(equal_segments(problem, cuts, flags)[2], 1) << "it is in another stretch";
    flags.anywhere[1] = 1;
    EXPECT_EQ(equal_segments(problem, cuts, flags)[2], 2);
    flags = no_marks(problem);
    flags.inside[5] = 1;
    EXPECT_EQ(equal_segments(problem, cuts, flags)[2], 2);
}

/// A segment as text, independent of its numbers.
std::string text_of(const SearchProblem& problem, const GoalFlags& flags, int low, int high) {
    std::set<int> below;
    const auto for_each_list = [&](const auto& visit) {
        for (int choice = problem.first(low); choice < problem.first(high); ++choice) {
            visit(problem.alternative(choice).needs, choice);
            visit(problem.alternative(choice).provides, choice);
        }
    };
    for_each_list([&](std::span<const int> goals, int) {
        for (const int goal : goals)
            if (goal < low) below.insert(goal);
    });
    std::ostringstream words;
    for_each_list([&](std::span<const int> goals, int choice) {
        words << problem.goal_of(choice) - low << ' ' << problem.cost(choice) << " (";
        for (const int goal : goals)
            if (goal >= low)
                words << goal - low << ' ';
            else
                words << 'b' << std::distance(below.begin(), below.find(goal)) << ' ';
        words << ')';
    });
    for (const int goal : below) words << int{flags.anywhere[static_cast<std::size_t>(goal)]};
    for (int goal = low; goal < high; ++goal)
        words << int{flags.anywhere[static_cast<std::size_t>(goal)]}
              << int{flags.inside[static_cast<std::size_t>(goal)]};
    return words.str();
}

TEST(EqualSegments, EqualSegmentsAreFoundInRandomProblems) {
    int equal = 0, different = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const SearchProblem problem = layered_decomposition(seed).problem;
        const std::vector<int> cuts = cuts_of(problem, no_sccs(problem), true);
        GoalFlags flags = no_marks(problem);
        flags.anywhere[seed % flags.anywhere.size()] = seed % 2;
        flags.inside[seed * 7 % flags.inside.size()] = seed % 3 == 0;
        const std::vector<Segment> segments = segments_between(problem, cuts, flags);
        ASSERT_EQ(segments.size() + 1, cuts.size());
        std::vector<std::string> words;
        for (std::size_t r = 0; r < segments.size(); ++r) {
            EXPECT_EQ(segments[r].low, cuts[r]);
            EXPECT_EQ(segments[r].high, cuts[r + 1]);
            words.push_back(text_of(problem, flags, cuts[r], cuts[r + 1]));
            const auto first = std::find(words.begin(), words.end(), words.back()) - words.begin();
            EXPECT_EQ(segments[r].equal_to, static_cast<std::size_t>(first)) << seed << ' ' << r;
            (segments[r].equal_to == r ? different : equal) += 1;
        }
    }
    EXPECT_GT(equal, 300);
    EXPECT_GT(different, 300);
}

}  // namespace
}  // namespace cairn::search::test
