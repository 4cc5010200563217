#include "apps/text/unigram_model.hpp"
#include "apps/text/prefix_trie.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

namespace cairn::text_test {
namespace {

using Ids = std::vector<std::int32_t>;

Ids segment(const text::UnigramModel& model, std::string_view word) {
    Ids ids;
    model.append(word, ids);
    return ids;
}

TEST(PrefixTrie, FindsAllPrefixesShortestFirst) {
    const text::PrefixTrie trie({"b", "abc", "", "a", "abcd", "a", "\xFF"});
    const auto prefixes = [&](std::string_view text) {
        std::vector<std::pair<std::size_t, std::int32_t>> found;
        trie.for_prefixes(text, [&](std::size_t length, std::int32_t value) { found.emplace_back(length, value); });
        return found;
    };
    using Found = std::vector<std::pair<std::size_t, std::int32_t>>;
    EXPECT_EQ(prefixes("abcdef"), (Found{{1, 5}, {3, 1}, {4, 4}}));  // of the two "a" the last one
    EXPECT_EQ(prefixes("ab"), (Found{{1, 5}}));
    EXPECT_EQ(prefixes("\xFF\xFF"), (Found{{1, 6}}));
    EXPECT_EQ(prefixes(""), Found{});
    EXPECT_EQ(prefixes("c"), Found{});
    text::PrefixTrie({}).for_prefixes("a", [](std::size_t, std::int32_t) { FAIL(); });
}

TEST(UnigramModel, TheBestSumOfScoresWins) {
    const text::UnigramModel model(
        {{"<unk>", 0}, {"a", -1}, {"b", -1}, {"ab", -1.5}, {"abc", -9}, {"c", -2}, {"bc", -1}}, 0, false);
    EXPECT_EQ(segment(model, "ab"), Ids{3});
    EXPECT_EQ(segment(model, "abc"), (Ids{1, 6}));
    EXPECT_EQ(segment(model, "cab"), (Ids{5, 3}));
    EXPECT_EQ(segment(model, ""), Ids{});
}

TEST(UnigramModel, ARunOfUnknownCharactersIsOnePiece) {
    const text::UnigramModel model({{"<unk>", 0}, {"a", -1}, {"☃☄", -100}}, 0, false);
    EXPECT_EQ(segment(model, "xéa\u4E2D"), (Ids{0, 1, 0}));
    EXPECT_EQ(segment(model, "x<unk>y"), Ids{0});
    EXPECT_EQ(segment(model, "☃☄"), Ids{2});  // its score is the least, -100, and -110 each for two characters
    EXPECT_EQ(segment(model, "☄☃☄x"), (Ids{0, 2, 0}));
}

TEST(UnigramModel, AnUnknownCharacterCostsTheLeastScoreMinus10) {
    const auto ids = [](double score) {
        const text::UnigramModel model({{"<unk>", 0}, {"xy", score}, {"z", -20}, {"yz", 0}}, 0, false);
        return segment(model, "xyz");
    };
    EXPECT_EQ(ids(-9.875), (Ids{1, 2}));   // -29.875 beats -30
    EXPECT_EQ(ids(-10.125), (Ids{0, 3}));  // -30 beats -30.125
    EXPECT_EQ(ids(-10), (Ids{0, 3}));      // of equal sums the one found first
}

TEST(UnigramModel, UnknownPiecesBecomeBytesIfAllHavePieces) {
    std::vector<text::ScoredPiece> pieces = {{"<unk>", 0}, {"a", -1}};
    for (const char* byte : {"<0xC3>", "<0xA9>", "<0x0A>"}) pieces.push_back({byte, 0});
    const text::UnigramModel model(pieces, 0, true);
    EXPECT_EQ(segment(model, "aé\na"), (Ids{1, 2, 3, 4, 1}));
    EXPECT_EQ(segment(model, "éx"), Ids{0});  // one run, and x has no piece
    EXPECT_EQ(segment(text::UnigramModel(pieces, 0, false), "é"), Ids{0});
}

/// Every segmentation of a word, compared by the sum of its scores.
double best_score(std::string_view word, const std::map<std::string, double>& scores, double unknown) {
    if (word.empty()) return 0;
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t length = 1; length <= word.size(); ++length)
        if (const auto found = scores.find(std::string(word.substr(0, length))); found != scores.end())
            best = std::max(best, found->second + best_score(word.substr(length), scores, unknown));
    if (!scores.contains(std::string(word.substr(0, 1))))
        best = std::max(best, unknown + best_score(word.substr(1), scores, unknown));
    return best;
}

TEST(UnigramModel, NoOtherSegmentationHasALargerSum) {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        std::map<std::string, double> scores;
        std::vector<text::ScoredPiece> pieces = {{"<unk>", 0}};
        double least = 0;
        for (int count = 0; count < 12; ++count) {
            std::string piece;
            for (auto length = 1 + random() % 3; length > 0; --length) piece += static_cast<char>('a' + random() % 3);
            const double score = -static_cast<double>(random() % 64) / 8;
            if (!scores.emplace(piece, score).second) continue;
            pieces.push_back({piece, score});
            least = std::min(least, score);
        }
        const text::UnigramModel model(pieces, 0, false);
        std::string word;
        for (auto length = random() % 10; length > 0; --length) word += static_cast<char>('a' + random() % 3);
        // The sum of the result; each character of an unknown piece counts.
        double sum = 0;
        std::size_t known = 0;
        for (const std::int32_t id : segment(model, word)) {
            if (id == 0) continue;
            sum += pieces[static_cast<std::size_t>(id)].score;
            known += pieces[static_cast<std::size_t>(id)].text.size();
        }
        sum += (least - 10) * static_cast<double>(word.size() - known);
        ASSERT_DOUBLE_EQ(sum, best_score(word, scores, least - 10)) << word;
    }
}

}  // namespace
}  // namespace cairn::text_test
