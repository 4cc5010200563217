#include "cairn/models/lexicon.hpp"

#include "cairn/error.hpp"
#include "cairn/ports.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace cairn::models {
namespace {

using testing::HasSubstr;

const std::string lexicon_file = std::string(CAIRN_SOURCE_DIR) + "/examples/models/lexicon.tsv";

/// The results by plain loops.
std::vector<SentimentScore> by_loops(const Lexicon& lexicon, const std::vector<std::string>& texts,
                                     const LexiconOptions& options) {
    std::vector<SentimentScore> results;
    for (const std::string& text : texts) {
        double sum = 0;
        int count = 0;
        for (const std::int32_t entry : lexicon.encode(text)) {
            sum += static_cast<double>(lexicon.scores()[static_cast<std::size_t>(entry)]);
            ++count;
        }
        const double score = count == 0 ? 0 : sum / count;
        const Sentiment sentiment = score < static_cast<double>(options.negative_below)   ? Sentiment::negative
                                    : score > static_cast<double>(options.positive_above) ? Sentiment::positive
                                                                                          : Sentiment::neutral;
        results.push_back({static_cast<float>(score), sentiment});
    }
    return results;
}

/// Words of the lexicon and others, in random order; every seventh text is empty.
std::vector<std::string> random_texts(std::size_t count, unsigned seed) {
    const std::vector<std::string> words{"good",   "not",   "BAD",    "film", "waste", "of",        "time", "worth",
                                         "seeing", "don't", "bother", "the",  "awful", "Wonderful", "!"};
    std::mt19937 random(seed);
    std::vector<std::string> texts(count);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t length = i % 7 == 6 ? 0 : random() % 40; length > 0; --length)
            texts[i] += words[random() % words.size()] + ' ';
    return texts;
}

void expect_equal(const std::vector<SentimentScore>& results, const std::vector<SentimentScore>& expected) {
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        EXPECT_NEAR(results[i].score, expected[i].score, 1e-6) << i;
        EXPECT_EQ(results[i].sentiment, expected[i].sentiment) << i << ' ' << results[i].score;
    }
}

TEST(Lexicon, OwnLexiconHas29Words) {
    Lexicon lexicon = Lexicon::load(lexicon_file, Context());
    ASSERT_EQ(lexicon.scores().size(), 29U);
    const std::vector<std::string> texts{"A wonderful film.", "It is a waste of time.", "The film.", "Not good."};
    const std::vector<SentimentScore> results = lexicon.classify(texts);
    ASSERT_EQ(results.size(), 4U);
    EXPECT_EQ(results[0], (SentimentScore{3, Sentiment::positive}));
    EXPECT_EQ(results[1], (SentimentScore{-4, Sentiment::negative}));
    EXPECT_EQ(results[2], (SentimentScore{0, Sentiment::neutral}));
    EXPECT_EQ(results[3], (SentimentScore{-2, Sentiment::negative}));
    EXPECT_EQ(to_string(results[2].sentiment), "neutral");
}

TEST(Lexicon, RandomTextsGiveTheResultsOfPlainLoops) {
    for (const std::int64_t max_batch : {1, 8, 33})
        for (const float threshold : {0.0f, 0.75f}) {
            const LexiconOptions options{
                .max_batch = max_batch, .negative_below = -threshold, .positive_above = threshold};
            Lexicon lexicon = Lexicon::load(lexicon_file, Context({.threads = 2}), options, {.verify = true});
            for (const std::size_t count : {0, 1, 2, 33, 70}) {
                const std::vector<std::string> texts = random_texts(count, static_cast<unsigned>(count));
                expect_equal(lexicon.classify(texts), by_loops(lexicon, texts, options));
            }
        }
}

TEST(Lexicon, TextsWithoutEntriesAreNeutral) {
    Lexicon lexicon = Lexicon::load(lexicon_file, Context());
    for (const std::size_t count : {1, 8, 33}) {
        const std::vector<SentimentScore> results = lexicon.classify(std::vector<std::string>(count, ""));
        ASSERT_EQ(results.size(), count);
        for (const SentimentScore& result : results) EXPECT_EQ(result, SentimentScore());
    }
    EXPECT_TRUE(lexicon.classify({}).empty());
}

TEST(Lexicon, ThresholdsAreNotPassedByEqualScores) {
    const test::TempFolder temp;
    const std::string file = temp.write("w.tsv", "up\t1\ndown\t-1\n").string();
    Lexicon lexicon = Lexicon::load(file, Context(), {.negative_below = -1, .positive_above = 1});
    const std::vector<std::string> texts{"up", "down", "up down"};
    for (const SentimentScore& result : lexicon.classify(texts)) EXPECT_EQ(result.sentiment, Sentiment::neutral);
}

TEST(Lexicon, TheGraphServesNoRows) {
    Lexicon lexicon = Lexicon::load(lexicon_file, Context());
    const std::vector<std::int32_t> ids;
    const std::vector<std::uint8_t> mask;
    lexicon.compiled().set("ids", ids.data(), {0, 3});
    lexicon.compiled().set("mask", static_cast<const void*>(mask.data()), {0, 3});
    lexicon.compiled().run();
    EXPECT_TRUE(lexicon.compiled().output("score").as<float>().empty());
    EXPECT_TRUE(lexicon.compiled().output("class").as<std::int32_t>().empty());
}

TEST(Lexicon, LongTextsAreComputedOrRefused) {
    Lexicon lexicon = Lexicon::load(lexicon_file, Context(), {.max_entries = 5000});
    std::string text;
    for (int i = 0; i < 5000; ++i) text += i % 5 == 0 ? "bad " : "good ";
    const std::vector<std::string> most{text}, more{"good " + text};
    const std::vector<SentimentScore> results = lexicon.classify(most);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_NEAR(results[0].score, 1.2, 1e-5);
    EXPECT_THAT(test::message([&] { lexicon.classify(more); }),
                HasSubstr("[lexicon] a text has 5001 entries, more than max_entries, 5000"));
    EXPECT_EQ(lexicon.classify(most), results);
}

TEST(Lexicon, WrongOptionsAreRefused) {
    EXPECT_THAT(test::message([] { lexicon_graph(0); }), HasSubstr("entries"));
    EXPECT_THAT(test::message([] { lexicon_graph(1, {.max_batch = 0}); }), HasSubstr("max_batch"));
    EXPECT_THAT(test::message([] { lexicon_graph(1, {.max_entries = 0}); }), HasSubstr("max_entries"));
    for (const auto& [low, high] : {std::pair(1.0f, 0.5f), std::pair(NAN, 0.0f), std::pair(0.0f, INFINITY)})
        EXPECT_THAT(test::message([&] { lexicon_graph(1, {.negative_below = low, .positive_above = high}); }),
                    HasSubstr("negative_below must not exceed positive_above"));
    EXPECT_EQ(ports(lexicon_graph(1)).size(), 5U);
}

}  // namespace
}  // namespace cairn::models
