#include "apps/text/word_splitter.hpp"

#include <gtest/gtest.h>

namespace cairn::text_test {
namespace {

using Prepend = text::SplitStep::Prepend;
using Words = std::vector<std::string>;

text::SplitStep metaspace_step(Prepend prepend, bool split = true) {
    return {.kind = text::SplitStep::Kind::metaspace, .replacement = "\u2581", .prepend = prepend, .split = split};
}

Words words_of(std::vector<text::SplitStep> steps, const std::string& text, bool begins_text = true) {
    return text::WordSplitter(std::move(steps)).apply({text}, begins_text);
}

TEST(WordSplitter, WhiteSpaceAndMetaspace) {
    const std::vector<text::SplitStep> steps = {{.kind = text::SplitStep::Kind::white_space},
                                                metaspace_step(Prepend::always)};
    EXPECT_EQ(words_of(steps, " to\t be\u3000or "), (Words{"▁to", "▁be", "▁or"}));
    EXPECT_EQ(words_of(steps, "▁a▁▁b"), (Words{"▁a", "▁", "▁b"}));
    EXPECT_EQ(words_of(steps, ""), Words{});
    EXPECT_EQ(words_of(steps, " \n"), Words{});
}

TEST(WordSplitter, MetaspaceAlone) {
    EXPECT_EQ(words_of({metaspace_step(Prepend::always)}, "a  b\tc"), (Words{"▁a", "▁", "▁b\tc"}));
    EXPECT_EQ(words_of({metaspace_step(Prepend::always)}, " a"), Words{"▁a"});
    EXPECT_EQ(words_of({metaspace_step(Prepend::never)}, "a b "), (Words{"a", "▁b", "▁"}));
    EXPECT_EQ(words_of({metaspace_step(Prepend::always, false)}, "a b "), Words{"▁a▁b▁"});
    EXPECT_EQ(words_of({metaspace_step(Prepend::always)}, " "), Words{"▁"});
    EXPECT_EQ(words_of({}, "a b"), Words{"a b"});
}

TEST(WordSplitter, FirstPrependsAtTheStartOfTheTextOnly) {
    EXPECT_EQ(words_of({metaspace_step(Prepend::first)}, "a b"), (Words{"▁a", "▁b"}));
    EXPECT_EQ(words_of({metaspace_step(Prepend::first)}, "a b", false), (Words{"a", "▁b"}));
    EXPECT_EQ(words_of({{.kind = text::SplitStep::Kind::white_space}, metaspace_step(Prepend::first)}, "a b"),
              (Words{"▁a", "b"}));
    EXPECT_EQ(words_of({{.kind = text::SplitStep::Kind::white_space}, metaspace_step(Prepend::first)}, " a b"),
              (Words{"a", "b"}));
    const text::WordSplitter splitter({metaspace_step(Prepend::first)});
    EXPECT_EQ(splitter.apply({.text = "a", .keeps_start = false}, true), Words{"a"});
}

TEST(WordSplitter, NamesOfSteps) {
    EXPECT_EQ(text::shown_steps(std::vector<text::SplitStep>{{.kind = text::SplitStep::Kind::white_space},
                                                             metaspace_step(Prepend::first, false)}),
              "WhitespaceSplit, Metaspace (first, without split)");
    EXPECT_EQ(text::shown_steps(std::vector<text::SplitStep>{}), "null");
}

}  // namespace
}  // namespace cairn::text_test
