#include "program/memory_plan/gap_search.hpp"

#include "program/memory_plan/packing_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace cairn::memory_plan {
namespace {

using ::testing::ElementsAre;

TEST(GapSearch, FindsTheLowestOrTheTightestGap) {
    const auto lowest_offset = [](std::int64_t bytes, GapFit fit) {
        GapSearch gap(bytes, 4, fit);
        for (const auto& [offset, end] : {std::pair(0, 5), std::pair(16, 20), std::pair(24, 30)})
            if (gap.pass(offset, end)) break;
        return gap.place();
    };
    EXPECT_EQ(lowest_offset(4, GapFit::first), 8);
    EXPECT_EQ(lowest_offset(4, GapFit::best), 20);
    EXPECT_EQ(lowest_offset(8, GapFit::first), 8);
    EXPECT_EQ(lowest_offset(9, GapFit::first), 32) << "above all";
}

TEST(PlacedBuffers, AreSortedByOffset) {
    PlacedBuffers shelf;
    shelf.insert({8, 9, 0, 0, 0});
    shelf.insert({0, 8, 0, 0, 1});
    shelf.insert({0, 0, 0, 0, 2});
    std::vector<int> order;
    shelf.list(order);
    EXPECT_THAT(order, ElementsAre(2, 1, 0)) << "those without bytes come first";
    shelf.clear();
    shelf.list(order);
    EXPECT_THAT(order, ElementsAre());
}

/// Reference: the offset of a buffer by a plain scan, and the number of buffers scanned.
std::pair<std::int64_t, std::int64_t> plain(const std::vector<PlacedBuffer>& all, GapSearch gap, int first, int last) {
    std::int64_t passed = 0;
    for (const PlacedBuffer& placed : all) {
        ++passed;
        if (placed.first <= last && first <= placed.last && gap.pass(placed.offset, placed.end)) break;
    }
    return {gap.place(), passed};
}

// Long live intervals give blocks in which all buffers conflict, short ones blocks in which none does.
TEST(PlacedBuffers, EqualALinearScan) {
    std::mt19937 random(3);
    for (const int longest : {3, 60, 4000}) {
        PlacedBuffers shelf;
        std::vector<PlacedBuffer> all;
        for (int b = 0; b < 1500; ++b) {
            const int first = static_cast<int>(random() % (longest == 4000 ? 40 : 1000));
            const int last = first + static_cast<int>(random() % static_cast<unsigned>(longest));
            const std::int64_t bytes = random() % 8 == 0 ? 0 : 16 * (1 + random() % 40);
            const GapSearch gap(bytes, random() % 2 ? 16 : 64, random() % 4 == 0 ? GapFit::best : GapFit::first);
            std::int64_t work = 0;
            const std::int64_t offset = shelf.find(gap, first, last, work);
            ASSERT_EQ(std::pair(offset, work), plain(all, gap, first, last)) << longest << " " << b;
            const PlacedBuffer placed{offset, offset + bytes, first, last, b};
            shelf.insert(placed);
            all.insert(std::upper_bound(all.begin(), all.end(), placed), placed);
        }
        std::vector<int> order;
        shelf.list(order);
        ASSERT_EQ(order.size(), all.size());
        for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(order[i], all[i].buffer);
    }
}

}  // namespace
}  // namespace cairn::memory_plan
