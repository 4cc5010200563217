#include "apps/text/word_length.hpp"

#include "tokenizer_folder.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace cairn::text {
namespace {

std::vector<std::string_view> split(std::string_view text, WordRule rule = WordRule::gpt2) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        words.push_back(text.substr(0, word_length(text, rule)));
        text.remove_prefix(words.back().size());
    }
    return words;
}

using Words = std::vector<std::string_view>;

TEST(Gpt2Split, LettersNumbersAndSigns) {
    EXPECT_EQ(split("He's  42!"), (Words{"He", "'s", " ", " 42", "!"}));
    EXPECT_EQ(split("abc123,.x"), (Words{"abc", "123", ",.", "x"}));
    EXPECT_EQ(split("x²½Ⅷ é"), (Words{"x", "²½Ⅷ", " é"}));
    EXPECT_EQ(split(" ... ok"), (Words{" ...", " ok"}));
    EXPECT_EQ(split("_a_"), (Words{"_", "a", "_"}));
}

TEST(Gpt2Split, LowerCaseContractionsHavePriority) {
    EXPECT_EQ(split("we'll they've I'd"), (Words{"we", "'ll", " they", "'ve", " I", "'d"}));
    EXPECT_EQ(split("WE'LL"), (Words{"WE", "'", "LL"}));
    EXPECT_EQ(split("'stop"), (Words{"'s", "top"}));
    EXPECT_EQ(split(" 's"), (Words{" '", "s"}));
    EXPECT_EQ(split("!'s"), (Words{"!'", "s"}));
    EXPECT_EQ(split("'"), (Words{"'"}));
}

TEST(Gpt2Split, TheLastOfSeveralSpacesBelongsToTheNextWord) {
    EXPECT_EQ(split("a   b"), (Words{"a", "  ", " b"}));
    EXPECT_EQ(split("a   "), (Words{"a", "   "}));
    EXPECT_EQ(split(" "), (Words{" "}));
    EXPECT_EQ(split("a\n\nb"), (Words{"a", "\n", "\n", "b"}));
    EXPECT_EQ(split("a \n b"), (Words{"a", " \n", " b"}));
    EXPECT_EQ(split("a\u3000\u2003b"), (Words{"a", "\u3000", "\u2003", "b"}));
    EXPECT_EQ(split(" \t"), (Words{" \t"}));
}

TEST(Gpt2Split, InvalidBytesAreSigns) {
    EXPECT_EQ(split("a\xFF\x80z"), (Words{"a", "\xFF\x80", "z"}));
    EXPECT_EQ(split(" \xC3!"), (Words{" \xC3!"}));
}

TEST(WordLength, NumbersAreWordsOfOneCharacterForSmolLm) {
    const auto words = [](std::string_view text) { return split(text, WordRule::smollm); };
    EXPECT_EQ(words("He's  42!"), (Words{"He", "'s", "  ", "4", "2", "!"}));
    EXPECT_EQ(words("a 1"), (Words{"a", " ", "1"}));
    EXPECT_EQ(words("x²½ Ⅷ é"), (Words{"x", "²", "½", " ", "Ⅷ", " é"}));
    EXPECT_EQ(words(" ... ok"), (Words{" ...", " ok"}));
}

TEST(WordLength, NewlinesEndWordsForLlama3) {
    const auto words = [](std::string_view text) { return split(text, WordRule::llama3); };
    EXPECT_EQ(words("He's  1234!\n"), (Words{"He", "'s", " ", " ", "123", "4", "!\n"}));
    EXPECT_EQ(words("WE'LL we'Ve"), (Words{"WE", "'LL", " we", "'Ve"}));
    EXPECT_EQ(words("a \n\n  b"), (Words{"a", " \n\n", " ", " b"}));
    EXPECT_EQ(words("\tx (y) \t"), (Words{"\tx", " (", "y", ")", " \t"}));
    EXPECT_EQ(words("!\r\n\r\n \n"), (Words{"!\r\n\r\n", " \n"}));
    EXPECT_EQ(words("'"), (Words{"'"}));
    EXPECT_EQ(words(" "), (Words{" "}));
    EXPECT_EQ(split("a1234 5", WordRule::qwen2), (Words{"a", "1", "2", "3", "4", " ", "5"}));
}

TEST(WordLength, IsThatOfTheReferenceForRandomTexts) {
    const nlohmann::json cases = text_test::parse_json(text_test::tests_folder() / "golden/word_cases.json")["cases"];
    ASSERT_GT(cases.size(), 500U);
    for (const auto& c : cases) {
        const auto text = c["text"].get<std::string>();
        for (const auto& [name, lengths] : c["lengths"].items()) {
            std::vector<std::size_t> found;
            for (const std::string_view word : split(text, *word_rule_named(name))) found.push_back(word.size());
            EXPECT_EQ(found, lengths.get<std::vector<std::size_t>>()) << name << " of " << c["text"];
        }
    }
}

TEST(WordLength, RulesAreNamedAsInFiles) {
    EXPECT_EQ(word_rule_named("llama-bpe"), WordRule::llama3);
    EXPECT_EQ(word_rule_named("gpt-2"), WordRule::gpt2);
    EXPECT_EQ(word_rule_named("falcon"), std::nullopt);
    EXPECT_EQ(word_rule_named(""), std::nullopt);
}

}  // namespace
}  // namespace cairn::text
