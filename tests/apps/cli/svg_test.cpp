#include "apps/cli/svg.hpp"

#include <gmock/gmock.h>

namespace cairn::cli {
namespace {

using testing::HasSubstr;

TEST(Svg, TextsAreEscaped) {
    EXPECT_EQ(escaped("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
    EXPECT_EQ(escaped(std::string_view("a\0b\x1b", 4)), "a b ");
    Svg svg(10, 20, "\"label\"");
    svg.text(1, 2, "f<x>", "small", "a & b");
    const std::string drawn = std::move(svg).finish();
    EXPECT_THAT(drawn, HasSubstr("aria-label=\"&quot;label&quot;\""));
    EXPECT_THAT(drawn, HasSubstr(">f&lt;x&gt;<title>a &amp; b</title></text>"));
}

TEST(Svg, LongTextsAreCutBetweenCharacters) {
    EXPECT_EQ(shortened("short", 5), "short");
    EXPECT_EQ(shortened("longer", 5), "long…");
    EXPECT_EQ(shortened("ééé", 3), "ééé");
    EXPECT_EQ(shortened("éééé", 3), "éé…");
    EXPECT_EQ(shortened("", 3), "");
}

}  // namespace
}  // namespace cairn::cli
