#include "apps/text/text_normalizer.hpp"

#include <gtest/gtest.h>

namespace cairn::text_test {
namespace {

using Kind = text::NormalizerStep::Kind;

text::NormalizedText by_steps(std::vector<text::NormalizerStep> steps, std::string_view text) {
    return text::TextNormalizer(std::move(steps)).apply(text);
}

std::string by_one(text::NormalizerStep step, std::string_view text) { return by_steps({std::move(step)}, text).text; }

TEST(TextNormalizer, Replacements) {
    const text::NormalizerStep quotes{.kind = Kind::replace, .from = "``", .to = "\""};
    EXPECT_EQ(by_one(quotes, "``a``` ``"), "\"a\"` \"");
    EXPECT_EQ(by_one(quotes, ""), "");
    EXPECT_EQ(by_one({.kind = Kind::replace, .from = "aa", .to = "a"}, "aaaaa"), "aaa");
    const text::NormalizerStep spaces{.kind = Kind::replace_spaces, .to = "_"};
    EXPECT_EQ(by_one(spaces, " a  b   c  "), " a_b_c_");
    EXPECT_EQ(by_one(spaces, "a \t b"), "a \t b");
}

TEST(TextNormalizer, UnicodeForms) {
    EXPECT_EQ(by_one({.kind = Kind::nfd}, "\u00E9\uFB01"), "e\u0301\uFB01");
    EXPECT_EQ(by_one({.kind = Kind::nfkd}, "\u00E9\uFB01"), "e\u0301fi");
    EXPECT_EQ(by_one({.kind = Kind::nfc}, "e\u0301\u212B\uFB01"), "\u00E9\u00C5\uFB01");
    EXPECT_EQ(by_one({.kind = Kind::nfkc}, "e\u0301\uFB01\u00BD"), "\u00E9fi1\u20442");
    EXPECT_EQ(by_one({.kind = Kind::nfc}, "\u1112\u1161\u11AB"), "\uD55C");
    EXPECT_EQ(by_one({.kind = Kind::nfc}, "a\u0323\u0302"), "\u1EAD");
    EXPECT_EQ(by_one({.kind = Kind::nfkc}, ""), "");
}

TEST(TextNormalizer, AccentsAndCase) {
    // Marks of all three categories: Mn, Mc, Me.
    EXPECT_EQ(by_one({.kind = Kind::strip_accents}, "e\u0301\u0903x\u20DD\u00E9"), "ex\u00E9");
    EXPECT_EQ(by_one({.kind = Kind::lower_case}, "\u00C0\u03A3 \u0130X"), "\u00E0\u03C3 i\u0307x");
    EXPECT_EQ(
        by_steps({{.kind = Kind::nfkd}, {.kind = Kind::strip_accents}, {.kind = Kind::lower_case}}, "\u00C7a va").text,
        "ca va");
}

TEST(TextNormalizer, StripsWhiteSpaceAtTheGivenSides) {
    EXPECT_EQ(by_one({.kind = Kind::strip, .left = true, .right = true}, " \u3000a b\t\n"), "a b");
    EXPECT_EQ(by_one({.kind = Kind::strip, .left = true}, " a "), "a ");
    EXPECT_EQ(by_one({.kind = Kind::strip, .right = true}, " a "), " a");
    EXPECT_EQ(by_one({.kind = Kind::strip, .left = true, .right = true}, " \t "), "");
}

TEST(TextNormalizer, IllFormedBytesAreReplacementCharacters) {
    EXPECT_EQ(by_steps({}, "a\xC3(\xE4\xB8").text, "a\uFFFD(\uFFFD");
}

TEST(TextNormalizer, KnowsWhetherTheFirstCharacterIsLeft) {
    EXPECT_TRUE(by_steps({{.kind = Kind::strip_accents}}, "a\u0301").keeps_start);
    EXPECT_FALSE(by_steps({{.kind = Kind::strip_accents}}, "\u0301a").keeps_start);
    EXPECT_FALSE(by_steps({{.kind = Kind::strip, .left = true}}, " a").keeps_start);
    const auto replacing = [](const char* from, const char* to, std::string_view text) {
        return by_steps({{.kind = Kind::replace, .from = from, .to = to}}, text).keeps_start;
    };
    EXPECT_FALSE(replacing("zz", "", "zza"));
    EXPECT_FALSE(replacing("zz", "y", "zza"));  // y stems from the second z
    EXPECT_TRUE(replacing("z", "yy", "za"));
    EXPECT_TRUE(replacing("zz", "", "azz"));
    // The f of the ligature is dropped, its i stays.
    EXPECT_TRUE(by_steps({{.kind = Kind::nfkd}, {.kind = Kind::replace, .from = "f"}}, "\uFB01a").keeps_start);
    EXPECT_TRUE(by_steps({{.kind = Kind::strip, .left = true}}, "a ").keeps_start);
}

TEST(TextNormalizer, NamesOfSteps) {
    EXPECT_EQ(text::shown_steps(std::vector<text::NormalizerStep>{}), "null");
    EXPECT_EQ(text::shown_steps(std::vector<text::NormalizerStep>{{.kind = Kind::nfkd}, {.kind = Kind::strip}}),
              "NFKD, Strip");
}

}  // namespace
}  // namespace cairn::text_test
