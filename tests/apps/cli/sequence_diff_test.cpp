#include "apps/cli/sequence_diff.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace cairn::cli {

void PrintTo(const DiffLine& line, std::ostream* out) { *out << line.left << ':' << line.right; }

namespace {

std::vector<std::string> letters(const std::string& text) {
    std::vector<std::string> list;
    for (const char c : text) list.emplace_back(1, c);
    return list;
}

std::size_t common(const std::string& left, const std::string& right) {
    std::size_t count = 0;
    int i = 0, j = 0;
    for (const DiffLine& line : sequence_diff(letters(left), letters(right))) {
        if (line.left >= 0) { EXPECT_EQ(line.left, i++) << "each once, in order"; }
        if (line.right >= 0) { EXPECT_EQ(line.right, j++); }
        if (line.left < 0 || line.right < 0) continue;
        EXPECT_EQ(left[static_cast<std::size_t>(line.left)], right[static_cast<std::size_t>(line.right)]);
        ++count;
    }
    EXPECT_EQ(i, static_cast<int>(left.size()));
    EXPECT_EQ(j, static_cast<int>(right.size()));
    return count;
}

TEST(SequenceDiff, AlignsLists) {
    EXPECT_EQ(sequence_diff(letters("abc"), letters("axc")), (std::vector<DiffLine>{{0, 0}, {1, -1}, {-1, 1}, {2, 2}}));
    EXPECT_EQ(sequence_diff({}, {}), std::vector<DiffLine>{});
    EXPECT_EQ(sequence_diff(letters("a"), {}), (std::vector<DiffLine>{{0, -1}}));
}

TEST(SequenceDiff, FindsALongestCommonSubsequence) {
    EXPECT_EQ(common("abcabba", "cbabac"), 4u);
    EXPECT_EQ(common("xaxbxc", "aybycy"), 3u);
    EXPECT_EQ(common("aaa", "aa"), 2u);
    EXPECT_EQ(common("abc", "def"), 0u);
    EXPECT_EQ(common("same", "same"), 4u);
}

TEST(SequenceDiff, OfVeryDifferentListsMatchesTheEnds) {
    std::vector<std::string> left{"begin"}, right{"begin"};
    for (int i = 0; i < 5000; ++i) {
        left.push_back("left " + std::to_string(i));
        right.push_back("right " + std::to_string(i));
    }
    left.push_back("end");
    right.push_back("end");
    const std::vector<DiffLine> lines = sequence_diff(left, right);
    ASSERT_EQ(lines.size(), 10002u);
    EXPECT_EQ(lines.front(), (DiffLine{0, 0}));
    EXPECT_EQ(lines.back(), (DiffLine{5001, 5001}));
}

}  // namespace
}  // namespace cairn::cli
