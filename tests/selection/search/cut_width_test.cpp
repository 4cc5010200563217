#include "selection/search/cut_width.hpp"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

namespace cairn::search {
namespace {

using Positions = std::vector<std::size_t>;

TEST(CutWidths, AreNarrowIfFewGoalsAreLive) {
    CutWidths borders(8);
    for (const auto& [first, last] : {std::pair{0, 3}, {1, 3}, {2, 3}, {3, 5}, {4, 5}, {5, 7}, {6, 7}})
        borders.pass(static_cast<std::size_t>(first), static_cast<std::size_t>(last));
    const CutWidths::NarrowCuts narrow = borders.narrow();
    EXPECT_EQ(narrow.width, 1);
    EXPECT_EQ(narrow.borders, (Positions{1, 4, 6}));
}

TEST(CutWidths, NarrowCutsMayBeSlightlyWider) {
    CutWidths borders(8);
    for (const auto& [first, last] : {std::pair{0, 3}, {1, 3}, {2, 3}, {3, 5}, {4, 5}, {5, 7}, {6, 7}})
        borders.pass(static_cast<std::size_t>(first), static_cast<std::size_t>(last));
    EXPECT_EQ(borders.narrow(1).width, 1);
    EXPECT_EQ(borders.narrow(1).borders, (Positions{1, 2, 4, 5, 6, 7}));
    EXPECT_EQ(borders.narrow(1).widths, (std::vector<int>{1, 2, 1, 2, 1, 2}));
}

TEST(CutWidths, TheMiddleHalfDeterminesTheNarrowWidth) {
    CutWidths borders(8);
    borders.pass(1, 7);
    EXPECT_EQ(borders.narrow().width, 1) << "nothing is needed across border 1";
    EXPECT_EQ(borders.narrow().borders, (Positions{1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(borders.narrow().widths, (std::vector<int>{0, 1, 1, 1, 1, 1, 1}));
}

TEST(CutWidths, OfFewPositions) {
    EXPECT_EQ(CutWidths(0).narrow().borders, Positions{});
    EXPECT_EQ(CutWidths(1).narrow().borders, Positions{});
    EXPECT_EQ(CutWidths(2).narrow().borders, Positions{1});
}

TEST(CutWidths, CountLiveGoals) {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        const std::size_t position_count = random() % 20;
        std::vector<std::tuple<std::size_t, std::size_t, int>> all;
        CutWidths borders(position_count);
        for (std::size_t i = 0; position_count > 0 && i < random() % 30; ++i) {
            const auto& [first, last, weight] =
                all.emplace_back(random() % position_count, random() % position_count, static_cast<int>(random() % 3));
            borders.pass(first, last, weight);
        }
        const auto widths = [&](std::size_t border) {
            int sum = 0;
            for (const auto& [first, last, weight] : all)
                if (first < border && border <= last) sum += weight;
            return sum;
        };
        int fewest = widths(position_count / 4);
        for (std::size_t b = position_count / 4; b < position_count + 1 - position_count / 4; ++b)
            fewest = std::min(fewest, widths(b));
        Positions expected;
        for (std::size_t b = 1; b < position_count; ++b)
            if (widths(b) <= fewest) expected.push_back(b);
        EXPECT_EQ(borders.narrow().width, fewest) << "round " << round;
        EXPECT_EQ(borders.narrow().borders, expected) << "round " << round;
    }
}

}  // namespace
}  // namespace cairn::search
