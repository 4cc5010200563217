#include "io/json_reader/dom_parser.hpp"

#include "io/json_reader/quoted_name.hpp"
#include "tests/io/json_reader/json_mutator.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace cairn::json_reader {
namespace {

struct Refused {
    std::string what;
};

nlohmann::json read(std::string_view text) {
    return parse_json(text, [](const std::string& what) { throw Refused{what}; });
}

std::string refusal(std::string_view text) {
    try {
        read(text);
    } catch (const Refused& refused) { return refused.what; }
    return "";
}

TEST(DomParser, ReadsAllTypes) {
    const std::string_view text =
        R"({"a": [1, -2, 0.5, true, null, "b\u00e9", [], {}], "": {"x": {"y": [[18446744073709551615]]}}, "z": -0.0})";
    EXPECT_EQ(read(text), nlohmann::json::parse(text));
    EXPECT_EQ(read(text)["a"][0].type(), nlohmann::json::value_t::number_unsigned);
    EXPECT_EQ(read(text)["a"][1].type(), nlohmann::json::value_t::number_integer);
    EXPECT_EQ(read("\xEF\xBB\xBF 3 "), 3);
}

TEST(DomParser, ReportsErrorsInWords) {
    EXPECT_EQ(refusal(""), "is not valid JSON at byte 1");
    EXPECT_EQ(refusal("{\"a\": 1,}"), "is not valid JSON at byte 9");
    EXPECT_EQ(refusal("[1] 2"), "is not valid JSON at byte 5");
    EXPECT_EQ(refusal(std::string("[1]\0 2", 6)), "is not valid JSON at byte 4");
    EXPECT_EQ(refusal("[NaN]"), "is not valid JSON at byte 2");
    EXPECT_EQ(refusal("[\"\xC3\"]"), "is not valid UTF-8 at byte 3");
    EXPECT_EQ(refusal("[-1e999]"), "holds a number beyond the range of a double at byte 7");
    EXPECT_EQ(refusal(R"([{"a": 1}, {"a": 1, "b": {"a": 2}, "a": 3}])"), "holds the key 'a' twice in one object");
    EXPECT_EQ(refusal(std::string(64, '[') + std::string(64, ']')), "");
    EXPECT_EQ(refusal(std::string(65, '[') + std::string(65, ']')), "is nested more than 64 deep");
    EXPECT_EQ(refusal(std::string(1'000'000, '[')), "is nested more than 64 deep");
}

TEST(DomParser, MutatedTextsAreReadAsTheLibraryReadsThemOrRefused) {
    const std::string sound = R"({"a": [1, -2, 0.5, true, null, "b\u00e9"], "c": {"d": {}, "e": "\ud83d\ude00"}})";
    test::Mutator mutator(7);
    int read_count = 0;
    for (int round = 0; round < 20'000; ++round) {
        const std::string text = mutator.mutate(sound);
        try {
            const nlohmann::json tree = read(text);
            EXPECT_EQ(tree, nlohmann::json::parse(text)) << text;
            ++read_count;
        } catch (const Refused& refused) { EXPECT_FALSE(refused.what.empty()); }
    }
    EXPECT_GT(read_count, 500);
}

TEST(InQuotes, TruncatesBetweenCharactersAndEscapesControls) {
    EXPECT_EQ(quoted_name("a\n\x1B\x7F\xC3\xA9"), "'a???\xC3\xA9'");
    const std::string long_name(59, 'x');
    EXPECT_EQ(quoted_name(long_name + "y"), "'" + long_name + "y'");
    EXPECT_EQ(quoted_name(long_name + "\xC3\xA9z"), "'" + long_name + "...'");
}

}  // namespace
}  // namespace cairn::json_reader
