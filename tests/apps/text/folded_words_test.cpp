#include "cairn/text/words.hpp"

#include <gmock/gmock.h>

namespace cairn::text {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FoldedWords, LettersMarksDigitsAndInnerApostrophes) {
    EXPECT_THAT(folded_words("Don't, PLEASE! n00b"), ElementsAre("don't", "please", "n00b"));
    EXPECT_THAT(folded_words("self-confident"), ElementsAre("self", "confident"));
    EXPECT_THAT(folded_words("'tis the dogs' 'bone'"), ElementsAre("tis", "the", "dogs", "bone"));
    EXPECT_THAT(folded_words("rock''n'roll"), ElementsAre("rock", "n'roll"));
    EXPECT_THAT(folded_words("can\u2019t"), ElementsAre("can't"));
    EXPECT_THAT(folded_words(""), IsEmpty());
    EXPECT_THAT(folded_words(" \t.'"), IsEmpty());
}

TEST(FoldedWords, CaseIsFoldedAsUnicodeSays) {
    EXPECT_THAT(folded_words("NAÏVE STRASSE Straße ΣΊΣΥΦΟΣ σίσυφος"),
                ElementsAre("naïve", "strasse", "strasse", "σίσυφοσ", "σίσυφοσ"));
    EXPECT_THAT(folded_words("好き 1²"), ElementsAre("好き", "1²"));
}

TEST(FoldedWords, BytesThatAreNotUtf8SeparateWords) {
    EXPECT_THAT(folded_words("go\xFFod\xC3"), ElementsAre("go", "od"));
    EXPECT_THAT(folded_words("a\xED\xA0\x80z"), ElementsAre("a", "z"));
}

TEST(IsUtf8, IllFormedBytesAreFound) {
    for (const char* right : {"", "a", "na\xC3\xAFve", "\xEF\xBF\xBD", "\xF4\x8F\xBF\xBF"})
        EXPECT_TRUE(is_utf8(right)) << right;
    for (const char* wrong : {"\xFF", "a\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80"})
        EXPECT_FALSE(is_utf8(wrong)) << wrong;
}

}  // namespace
}  // namespace cairn::text
