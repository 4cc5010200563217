#include "apps/text/bpe_merge.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace cairn::text {
namespace {

using Word = std::vector<std::int32_t>;

/// The published algorithm: searches the whole word for the best pair, merges it, and repeats.
Word merge_by_search(Word word, const MergeTable& table) {
    for (;;) {
        std::size_t position = word.size();
        MergeTable::Merge best{std::numeric_limits<std::int32_t>::max(), 0};
        for (std::size_t i = 0; i + 1 < word.size(); ++i)
            if (const auto* merge = table.find(word[i], word[i + 1]); merge && merge->rank < best.rank)
                best = *merge, position = i;
        if (position == word.size()) return word;
        word[position] = best.result;
        word.erase(word.begin() + static_cast<std::ptrdiff_t>(position) + 1);
    }
}

TEST(BpeMerge, LowestRankFirstThenLeftmost) {
    MergeTable table;
    table.add('h', 'e', {0, 300});
    table.add('l', 'l', {1, 301});
    table.add(300, 301, {2, 302});
    BpeMerger merger(table);
    Word word{'h', 'e', 'l', 'l', 'o'};
    merger.merge(word);
    EXPECT_EQ(word, (Word{302, 'o'}));
    word = {'l', 'l', 'l'};
    merger.merge(word);
    EXPECT_EQ(word, (Word{301, 'l'}));
    word = {};
    EXPECT_EQ(merger.merge(word), 0u);
    EXPECT_EQ(word, Word{});
}

TEST(BpeMerge, APairIsListedOnce) {
    MergeTable table;
    EXPECT_TRUE(table.add(1, 2, {0, 3}));
    EXPECT_FALSE(table.add(1, 2, {1, 4}));
    EXPECT_EQ(table.find(1, 2)->result, 3);
    EXPECT_EQ(table.find(2, 1), nullptr);
}

TEST(BpeMerge, EqualsTheSearchOnRandomTables) {
    std::mt19937 random(3);
    for (int round = 0; round < 3000; ++round) {
        MergeTable table;
        std::int32_t tokens = 3;
        for (std::int32_t rank = 0; rank < 20; ++rank) {
            const auto left = static_cast<std::int32_t>(random() % static_cast<unsigned>(tokens));
            const auto right = static_cast<std::int32_t>(random() % static_cast<unsigned>(tokens));
            if (table.add(left, right, {rank, tokens})) ++tokens;
        }
        Word word;
        for (auto length = random() % 60; length > 0; --length) word.push_back(static_cast<std::int32_t>(random() % 3));
        const Word expected = merge_by_search(word, table);
        BpeMerger(table).merge(word);
        ASSERT_EQ(word, expected) << "round " << round;
    }
}

TEST(BpeMerge, AMillionEqualTokensNeedAtMostThreePairsEach) {
    MergeTable table;
    for (std::int32_t token = 0; token < 20; ++token) table.add(token, token, {token, token + 1});
    Word word(std::size_t{1} << 20, 0);
    EXPECT_LE(BpeMerger(table).merge(word), 3 * (std::size_t{1} << 20));
    EXPECT_EQ(word, Word{20});
}

}  // namespace
}  // namespace cairn::text
