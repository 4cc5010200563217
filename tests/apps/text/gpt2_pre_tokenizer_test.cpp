#include "apps/text/gpt2_pre_tokenizer.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace cairn::text {
namespace {

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        words.push_back(text.substr(0, gpt2_word_length(text)));
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

}  // namespace
}  // namespace cairn::text
