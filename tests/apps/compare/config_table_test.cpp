#include "apps/compare/config_table.hpp"

#include "cairn/error.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

namespace cairn::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(ConfigTable, EntriesHaveTheirTypes) {
    const ConfigFile file(
        "t = \"x\"\ni = 3\nn = 2.5\nf = true\nl = [1, 8]\ns = [\"a\", \"b\"]\nm = { A = \"b\" }\n[table]\n[[list]]\n"
        "[[list]]\n",
        "/folder/c.toml");
    const ConfigTable root = file.root();
    EXPECT_EQ(root.text("t"), "x");
    EXPECT_EQ(root.path("t"), "/folder/x");
    EXPECT_EQ(root.choice("t", {"w", "x"}), "x");
    EXPECT_EQ(root.integer("i", 1, 3), 3);
    EXPECT_EQ(root.number("i", 0, 9), 3.0);
    EXPECT_EQ(root.number("n", 0, 9), 2.5);
    EXPECT_EQ(root.flag("f"), true);
    EXPECT_THAT(root.integers("l", 1, 8).value(), ElementsAre(1, 8));
    EXPECT_THAT(root.texts("s").value(), ElementsAre("a", "b"));
    EXPECT_THAT(root.text_map("m").value(), ElementsAre(Pair("A", "b")));
    EXPECT_TRUE(root.table("table").has_value());
    EXPECT_EQ(root.tables("list").size(), 2U);
    EXPECT_NO_THROW(root.refuse_others());
}

TEST(ConfigTable, AbsentEntriesAreNothing) {
    const ConfigFile file("", "c.toml");
    const ConfigTable root = file.root();
    EXPECT_FALSE(root.text("a") || root.path("a") || root.integer("a", 0, 1) || root.number("a", 0, 1) ||
                 root.flag("a") || root.integers("a", 0, 1) || root.texts("a") || root.text_map("a") ||
                 root.table("a"));
    EXPECT_TRUE(root.tables("a").empty());
    EXPECT_THAT(test::message([&] { root.fail_missing("a"); }), HasSubstr("[config] c.toml:"));
}

TEST(ConfigTable, WrongEntriesAreNamedWithTheirLine) {
    const auto refusal = [](const std::string& entry, const std::function<void(const ConfigTable&)>& read) {
        const ConfigFile file("\n" + entry + "\n", "c.toml");
        return test::message([&] { read(file.root()); });
    };
    const auto integer = [](const ConfigTable& root) { root.integer("a", 1, 5); };
    EXPECT_EQ(refusal("a = 0", integer), "[config] c.toml:2: a must be an integer from 1 to 5, not 0");
    EXPECT_EQ(refusal("a = 6", integer), "[config] c.toml:2: a must be an integer from 1 to 5, not 6");
    EXPECT_EQ(refusal("a = 1.0", integer), "[config] c.toml:2: a must be an integer from 1 to 5");
    EXPECT_EQ(refusal("a = \"1\"", integer), "[config] c.toml:2: a must be an integer from 1 to 5");
    const auto number = [](const ConfigTable& root) { root.number("a", 0, 1); };
    EXPECT_EQ(refusal("a = nan", number), "[config] c.toml:2: a must be a number from 0 to 1, not nan");
    EXPECT_EQ(refusal("a = true", number), "[config] c.toml:2: a must be a number from 0 to 1");
    EXPECT_EQ(refusal("a = 1", [](const ConfigTable& root) { root.text("a"); }),
              "[config] c.toml:2: a must be a text in quotes");
    EXPECT_EQ(refusal("a = \"\"", [](const ConfigTable& root) { root.path("a"); }),
              "[config] c.toml:2: a must not be empty");
    EXPECT_EQ(refusal("a = \"z\"",
                      [](const ConfigTable& root) {
                          root.choice("a", {"x", "y"});
                      }),
              "[config] c.toml:2: a must be one of x, y, not \"z\"");
    EXPECT_EQ(refusal("a = 1", [](const ConfigTable& root) { root.flag("a"); }),
              "[config] c.toml:2: a must be true or false");
    for (const char* wrong : {"a = 1", "a = []", "a = [1, 1]", "a = [0]", "a = [\"1\"]"})
        EXPECT_EQ(refusal(wrong, [](const ConfigTable& root) { root.integers("a", 1, 5); }),
                  "[config] c.toml:2: a must be a list of different integers from 1 to 5");
    for (const char* wrong : {"a = \"x\"", "a = [1]"})
        EXPECT_EQ(refusal(wrong, [](const ConfigTable& root) { root.texts("a"); }),
                  "[config] c.toml:2: a must be a list of texts in quotes");
    for (const char* wrong : {"a = \"x\"", "a = { b = 1 }"})
        EXPECT_EQ(refusal(wrong, [](const ConfigTable& root) { root.text_map("a"); }),
                  "[config] c.toml:2: a must be a table of texts in quotes");
    EXPECT_EQ(refusal("a = 1", [](const ConfigTable& root) { root.table("a"); }),
              "[config] c.toml:2: a must be a table: [a]");
    for (const char* wrong : {"a = 1", "[a]", "a = [1]"})
        EXPECT_EQ(refusal(wrong, [](const ConfigTable& root) { root.tables("a"); }),
                  "[config] c.toml:2: a must be a list of tables: [[a]]");
}

TEST(ConfigTable, UnknownKeysAreNamedWithTheNearest) {
    const ConfigFile file("\n[measure]\nturns = 1\niteration = 5\n", "c.toml");
    const ConfigTable table = file.root().table("measure").value();
    table.integer("turns", 0, 9);
    table.integer("iterations", 0, 9);
    EXPECT_EQ(test::message([&] { table.refuse_others(); }),
              "[config] c.toml:4: there is no key iteration in [measure], the nearest is iterations");
}

TEST(ConfigTable, TextThatIsNoTomlIsRefusedWithItsLine) {
    EXPECT_THAT(test::message([] { ConfigFile("a = 1\nb = = 2\n", "c.toml"); }), HasSubstr("[config] c.toml:2: "));
    EXPECT_THAT(test::message([] { ConfigFile("a = 1\na = 2\n", "c.toml"); }), HasSubstr("[config] c.toml:2: "));
}

}  // namespace
}  // namespace cairn::compare
