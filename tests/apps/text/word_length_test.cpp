#include "apps/text/word_length.hpp"

#include "tokenizer_folder.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace cairn::text {
namespace {

std::vector<std::string_view> split(std::string_view text, const std::vector<WordRule>& rules = {WordRule::gpt2}) {
    std::vector<std::string_view> words;
    for_each_word(text, rules, [&](std::string_view word) { words.push_back(word); });
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
    const auto words = [](std::string_view text) { return split(text, {WordRule::digit, WordRule::gpt2}); };
    EXPECT_EQ(words("He's  42!"), (Words{"He", "'s", "  ", "4", "2", "!"}));
    EXPECT_EQ(words("a 1"), (Words{"a", " ", "1"}));
    EXPECT_EQ(words("x²½ Ⅷ é"), (Words{"x", "²", "½", " ", "Ⅷ", " é"}));
    EXPECT_EQ(words(" ... ok"), (Words{" ...", " ok"}));
}

TEST(WordLength, NewlinesEndWordsForLlama3) {
    const auto words = [](std::string_view text) { return split(text, {WordRule::llama3}); };
    EXPECT_EQ(words("He's  1234!\n"), (Words{"He", "'s", " ", " ", "123", "4", "!\n"}));
    EXPECT_EQ(words("WE'LL we'Ve"), (Words{"WE", "'LL", " we", "'Ve"}));
    EXPECT_EQ(words("a \n\n  b"), (Words{"a", " \n\n", " ", " b"}));
    EXPECT_EQ(words("\tx (y) \t"), (Words{"\tx", " (", "y", ")", " \t"}));
    EXPECT_EQ(words("!\r\n\r\n \n"), (Words{"!\r\n\r\n", " \n"}));
    EXPECT_EQ(words("'"), (Words{"'"}));
    EXPECT_EQ(words(" "), (Words{" "}));
    EXPECT_EQ(split("a1234 5", {WordRule::qwen2}), (Words{"a", "1", "2", "3", "4", " ", "5"}));
}

TEST(WordLength, UpperCaseComesBeforeLowerCaseForGpt4o) {
    const auto words = [](std::string_view text) { return split(text, {WordRule::gpt4o}); };
    EXPECT_EQ(words("aCat's 2024"), (Words{"a", "Cat's", " ", "202", "4"}));
    EXPECT_EQ(words("HTTPServer HTTP"), (Words{"HTTPServer", " HTTP"}));
    EXPECT_EQ(words("\u4E2DABC"), (Words{"\u4E2D", "ABC"}));
    EXPECT_EQ(words("\u0301AB"), (Words{"\u0301", "AB"}));
    EXPECT_EQ(words("a/\r\n/b //"), (Words{"a", "/\r\n/", "b", " //"}));
    EXPECT_EQ(split("Cat's 12", {WordRule::tekken}), (Words{"Cat", "'s", " ", "1", "2"}));
}

TEST(WordLength, PartsAreMatchesAndWhatLiesBetween) {
    EXPECT_EQ(split("a12b", {WordRule::digit}), (Words{"a", "1", "2", "b"}));
    EXPECT_EQ(split("1234567", {WordRule::ascii_digits}), (Words{"123", "456", "7"}));
    EXPECT_EQ(split("a\xFF!b", {WordRule::spaced_punctuation}), (Words{"a\xFF", "!", "b"}));
    EXPECT_EQ(split("", {WordRule::digit}), Words{});
    EXPECT_EQ(split("ab c", {}), Words{"ab c"});
}

TEST(WordLength, LongTextsTakeLinearTime) {
    for (const char* pre : {"gpt-2", "smollm", "llama-bpe", "qwen35", "gpt-4o", "tekken", "deepseek-v3", "deepseek-llm",
                            "deepseek-coder", "falcon"}) {
        const std::vector<WordRule> rules = word_rules_named(pre)->rules;
        for (const std::string_view part : {"a", " ", "\n", "1", "A", "\u4E2DA", "\u0301", "!", "\xFF", "'s", "\x01"}) {
            const std::string text = text_test::repeat(part, 300000);
            std::size_t size = 0;
            for_each_word(text, rules, [&](std::string_view word) { size += word.size(); });
            EXPECT_EQ(size, text.size()) << pre;
        }
    }
}

TEST(WordLength, ExpressionsAreKnownByTheirText) {
    EXPECT_EQ(word_rule_of(R"(\p{N}{1,3})"), WordRule::three_digits);
    EXPECT_EQ(word_rule_of("[\r\n]"), WordRule::newline);
    EXPECT_EQ(word_rule_of(R"([\r\n])"), WordRule::newline) << "with escapes of the expression";
    EXPECT_EQ(word_rule_of(R"(\w+)"), std::nullopt);
    EXPECT_EQ(word_rule_of(""), std::nullopt);
}

TEST(WordLength, IsThatOfTheReferenceForRandomTexts) {
    const nlohmann::json cases = text_test::parse_json(text_test::tests_folder() / "golden/word_cases.json")["cases"];
    ASSERT_GT(cases.size(), 500U);
    for (const auto& c : cases) {
        const auto text = c["text"].get<std::string>();
        for (const auto& [name, lengths] : c["lengths"].items()) {
            std::vector<std::size_t> found;
            for (const std::string_view word : split(text, word_rules_named(name)->rules)) found.push_back(word.size());
            EXPECT_EQ(found, lengths.get<std::vector<std::size_t>>()) << name << " of " << c["text"];
        }
    }
}

TEST(WordLength, RulesAreNamedAsInFiles) {
    EXPECT_EQ(word_rules_named("llama-bpe")->rules, std::vector{WordRule::llama3});
    EXPECT_TRUE(word_rules_named("llama-bpe")->ignores_merges);
    EXPECT_TRUE(word_rules_named("llama-bpe")->adds_bos);
    EXPECT_EQ(word_rules_named("gpt-2")->rules, std::vector{WordRule::gpt2});
    EXPECT_FALSE(word_rules_named("gpt-2")->ignores_merges);
    EXPECT_EQ(word_rules_named("starcoder")->rules, (std::vector{WordRule::digit, WordRule::gpt2}));
    EXPECT_EQ(word_rules_named("poro-chat"), std::nullopt);
    EXPECT_EQ(word_rules_named(""), std::nullopt);
}

}  // namespace
}  // namespace cairn::text
