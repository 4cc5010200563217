#include "apps/text/bert_pre_tokenizer.hpp"

#include "apps/text/unicode.hpp"

#include <gtest/gtest.h>

namespace cairn::text {
namespace {

std::string spelled(char32_t code) {
    std::string text;
    append_utf8(text, code);
    return text;
}

TEST(BertPreTokenizer, IdeographsAreSeparateWords) {
    const BertNormalizer normalizer{
        .clean_text = false, .chinese_chars = true, .strip_accents = false, .lower_case = false};
    const auto stands_alone = [&](char32_t code) {
        return normalizer.apply(spelled(code)) == " " + spelled(code) + " ";
    };
    constexpr std::pair<char32_t, char32_t> blocks[] = {
        {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
        {0x2A700, 0x2B81F}, {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F},
    };
    for (const auto& [first, last] : blocks) {
        EXPECT_FALSE(stands_alone(first - 1)) << std::uint32_t{first};
        EXPECT_TRUE(stands_alone(first) && stands_alone((first + last) / 2) && stands_alone(last))
            << std::uint32_t{first};
        EXPECT_FALSE(stands_alone(last + 1)) << std::uint32_t{last};
    }
    EXPECT_FALSE(stands_alone(U'か') || stands_alone(U'한'));
}

TEST(BertPreTokenizer, CleaningDropsControlsAndNormalizesSpaces) {
    const BertNormalizer clean{.clean_text = true, .chinese_chars = false, .strip_accents = false, .lower_case = false};
    EXPECT_EQ(clean.apply(std::string("a\0b\u00AD\uFFFD\u200Bc\x7F", 13)), "abc");
    EXPECT_EQ(clean.apply("\t\n\r\u3000\u2028É"), "     É");
    EXPECT_EQ(clean.apply("\u0378"), "\u0378");  // unassigned: kept
    EXPECT_EQ(clean.apply("\xFFx"), "x");
    const BertNormalizer nothing{
        .clean_text = false, .chinese_chars = false, .strip_accents = false, .lower_case = false};
    EXPECT_EQ(nothing.apply("A\t\u200B中\xFF"), "A\t\u200B中\uFFFD");
}

TEST(BertPreTokenizer, AccentsAndCase) {
    const BertNormalizer strip{.clean_text = false, .chinese_chars = false, .strip_accents = true, .lower_case = false};
    EXPECT_EQ(strip.apply("ÇÅé\u0323"), "CAe");
    const BertNormalizer lower{.clean_text = false, .chinese_chars = false, .strip_accents = false, .lower_case = true};
    EXPECT_EQ(lower.apply("ÇΣİ"), "çσi\u0307");
}

TEST(BertPreTokenizer, PunctuationIsASeparateWord) {
    using Words = std::vector<std::string_view>;
    EXPECT_EQ(bert_pre_tokenize("don't  stop!"), (Words{"don", "'", "t", "stop", "!"}));
    EXPECT_EQ(bert_pre_tokenize("$5~¿x。"), (Words{"$", "5", "~", "¿", "x", "。"}));
    EXPECT_EQ(bert_pre_tokenize("a\u00A0b\u3000c€"), (Words{"a", "b", "c€"}));
    EXPECT_EQ(bert_pre_tokenize(" \t"), Words{});
    EXPECT_EQ(bert_pre_tokenize(""), Words{});
}

}  // namespace
}  // namespace cairn::text
