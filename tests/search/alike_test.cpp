#include "search/alike.hpp"

#include "search/chain.hpp"
#include "tests/search/random_meeting.hpp"
#include "tests/search/written_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace cairn::search::test {
namespace {

Marks no_marks(const Problem& problem) {
    const std::vector<std::uint8_t> none(static_cast<std::size_t>(problem.goals()), 0);
    return {none, none};
}

std::vector<std::size_t> likes(const Problem& problem, const std::vector<int>& cuts, const Marks& marks) {
    std::vector<std::size_t> found;
    for (const Stretch& stretch : stretches_between(problem, cuts, marks)) found.push_back(stretch.like);
    return found;
}

// Goals 0 and 1, then two stretches of two goals that rest on them.
Problem two_runs(const Way& first, const Way& second) {
    return written({{{1}}, {{1}}, {{3, {0}}}, {first, {5}}, {{3, {1}}}, {second, {5}}}, {3, 5});
}

TEST(Alike, StretchesAreEqualButForTheirNumbers) {
    const std::vector<int> cuts{0, 2, 4, 6};
    const Problem problem = two_runs({2, {2, 0}}, {2, {4, 1}});
    const std::vector<Stretch> stretches = stretches_between(problem, cuts, no_marks(problem));
    ASSERT_EQ(stretches.size(), 3);
    EXPECT_EQ(stretches[2].like, 1);
    EXPECT_EQ(stretches[2].low, 4);
    EXPECT_EQ(stretches[2].high, 6);
    EXPECT_EQ(stretches[2].below, (std::vector<std::pair<int, int>>{{0, 1}}));
    const std::vector<std::size_t> differ{0, 1, 2};
    const auto of = [&](const Way& first, const Way& second) {
        const Problem other = two_runs(first, second);
        return likes(other, cuts, no_marks(other));
    };
    EXPECT_EQ(of({2, {2, 0}}, {7, {4, 1}}), differ) << "in what one costs";
    EXPECT_EQ(of({2, {2, 0}}, {2, {1}}), differ) << "in what one needs";
    EXPECT_EQ(of({2, {0}, {2}}, {2, {4, 1}}), differ) << "in what comes along";
    EXPECT_EQ(of({2, {2, 0}}, {2, {4, 0}}), differ) << "1 stands for 0 elsewhere";
    EXPECT_EQ(of({2, {0, 1}}, {2, {0, 1}}), differ) << "0 stands for itself";
    EXPECT_EQ(of({2, {1}}, {2, {0}}), differ) << "in the other order";
    EXPECT_EQ(of({2, {1}}, {2, {1}}), differ) << "1 stands for both";
}

TEST(Alike, StretchesAreOnlyEqualWhereTheirMarksAre) {
    const std::vector<int> cuts{0, 2, 4, 6};
    const Problem problem = two_runs({2, {2, 0}}, {2, {4, 1}});
    Marks marks = no_marks(problem);
    marks.inside[1] = 1;
    EXPECT_EQ(likes(problem, cuts, marks)[2], 1) << "it is in another stretch";
    marks.anywhere[1] = 1;
    EXPECT_EQ(likes(problem, cuts, marks)[2], 2);
    marks = no_marks(problem);
    marks.inside[5] = 1;
    EXPECT_EQ(likes(problem, cuts, marks)[2], 2);
}

/// All of a stretch but its numbers.
std::string words_of(const Problem& problem, const Marks& marks, int low, int high) {
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
    for (const int goal : below) words << int{marks.anywhere[static_cast<std::size_t>(goal)]};
    for (int goal = low; goal < high; ++goal)
        words << int{marks.anywhere[static_cast<std::size_t>(goal)]}
              << int{marks.inside[static_cast<std::size_t>(goal)]};
    return words.str();
}

TEST(Alike, ThoseOfEqualWordsAreFound) {
    int equal = 0, different = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const Problem problem = layered_meeting(seed).problem;
        const std::vector<int> cuts = cuts_of(problem, no_circles(problem), true);
        Marks marks = no_marks(problem);
        marks.anywhere[seed % marks.anywhere.size()] = seed % 2;
        marks.inside[seed * 7 % marks.inside.size()] = seed % 3 == 0;
        const std::vector<Stretch> stretches = stretches_between(problem, cuts, marks);
        ASSERT_EQ(stretches.size() + 1, cuts.size());
        std::vector<std::string> words;
        for (std::size_t r = 0; r < stretches.size(); ++r) {
            EXPECT_EQ(stretches[r].low, cuts[r]);
            EXPECT_EQ(stretches[r].high, cuts[r + 1]);
            words.push_back(words_of(problem, marks, cuts[r], cuts[r + 1]));
            const auto first = std::find(words.begin(), words.end(), words.back()) - words.begin();
            EXPECT_EQ(stretches[r].like, static_cast<std::size_t>(first)) << seed << ' ' << r;
            (stretches[r].like == r ? different : equal) += 1;
        }
    }
    EXPECT_GT(equal, 300);
    EXPECT_GT(different, 300);
}

}  // namespace
}  // namespace cairn::search::test
