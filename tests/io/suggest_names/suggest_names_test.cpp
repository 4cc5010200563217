#include "io/suggest_names/suggest_names.hpp"

#include <gtest/gtest.h>

namespace cairn::files {
namespace {

using Names = std::vector<std::string_view>;

TEST(SuggestNames, NamesThatDifferByAPrefixAreFirst) {
    const Names names{"transformer.wpe.weight", "transformer.wte.weight", "wte.weigh"};
    EXPECT_EQ(suggest_names("wte.weight", names, 2), (Names{"transformer.wte.weight", "wte.weigh"}));
    EXPECT_EQ(suggest_names("model.transformer.wpe.weight", names, 1), (Names{"transformer.wpe.weight"}));
    EXPECT_EQ(suggest_names("model.ln_f.bias", {"model.ln_1.bias", "transformer.ln_f.bias"}, 1),
              (Names{"transformer.ln_f.bias"}));
    EXPECT_EQ(suggest_names("wte.bias", {"a.bias", "wpe.bias"}, 1), (Names{"wpe.bias"})) << "one component says little";
}

TEST(SuggestNames, OthersAreOrderedByEditDistance) {
    EXPECT_EQ(suggest_names("ab", {"xyz", "abc", "b", "ac"}, 3), (Names{"abc", "b", "ac"}));
    EXPECT_EQ(suggest_names("a", {"b", "a"}, 9), (Names{"a", "b"}));
    EXPECT_EQ(suggest_names("", {"bb", "a"}, 1), (Names{"a"}));
    EXPECT_TRUE(suggest_names("a", {}, 3).empty());
    const std::string longer(100'000, 'x');
    EXPECT_EQ(suggest_names(longer, {"y", longer}, 1), Names{longer});
}

TEST(SuggestNames, TheTextContainsTheNumberOfNames) {
    EXPECT_EQ(suggestion_text("w", {}, "tensors"), "it has no tensors");
    EXPECT_EQ(suggestion_text("w", {"b", "a"}, "tensors"), "its 2 tensors are 'b', 'a'");
    EXPECT_EQ(suggestion_text("w1", {"a", "b1", "c", "w", "w2"}, "tensors"),
              "the nearest of its 5 tensors are 'b1', 'w', 'w2', 'a'");
}

}  // namespace
}  // namespace cairn::files
