#include "apps/compare/dataset.hpp"

#include "apps/compare/sha256.hpp"
#include "cairn/error.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

namespace cairn::compare {
namespace {

using testing::HasSubstr;

TEST(Dataset, RowsHaveTextsAndLabels) {
    const test::TempFolder temp;
    const std::string lines =
        "{\"text\": \"a\", \"label\": \"x\"}\r\n\n{\"text\": \"\", \"label\": null}\n{\"text\": \"ü\"}";
    const Dataset data = read_dataset({.file = temp.write("d.jsonl", lines)}, Task::classify);
    ASSERT_EQ(data.rows.size(), 3U);
    EXPECT_EQ(data.rows[0].text, "a");
    EXPECT_EQ(data.rows[0].label, "x");
    EXPECT_EQ(data.rows[1].text, "");
    EXPECT_FALSE(data.rows[1].label);
    EXPECT_EQ(data.rows[2].text, "ü");
    EXPECT_EQ(data.sha256, sha256_of_text(lines));
}

TEST(Dataset, TheLimitCountsRows) {
    const test::TempFolder temp;
    const auto file = temp.write("d.jsonl", "{\"q\": \"a\"}\n\n{\"q\": \"b\"}\nbroken\n");
    const Dataset data = read_dataset({.file = file, .text = "q", .limit = 2}, Task::embed);
    ASSERT_EQ(data.rows.size(), 2U);
    EXPECT_EQ(data.rows[1].text, "b");
    EXPECT_THAT(test::message([&] { read_dataset({.file = file, .text = "q", .limit = 3}, Task::embed); }),
                HasSubstr("d.jsonl:4: the line is not valid JSON"));
}

TEST(Dataset, InputsOfGraphsAreObjects) {
    const test::TempFolder temp;
    const auto file = temp.write("d.jsonl", "{\"in\": {\"x\": [[1, 2]]}, \"label\": \"y\"}\n");
    const Dataset data = read_dataset({.file = file, .inputs = "in"}, Task::run);
    ASSERT_EQ(data.rows.size(), 1U);
    EXPECT_EQ(data.rows[0].inputs["x"][0][1], 2);
    EXPECT_EQ(data.rows[0].label, "y");
}

TEST(Dataset, FaultsNameTheLine) {
    const test::TempFolder temp;
    const auto refusal = [&](const std::string& text, Task task = Task::classify) {
        const auto file = temp.write("d.jsonl", text);
        return test::message([&] { read_dataset({.file = file}, task); });
    };
    EXPECT_THAT(refusal("{\"text\": \"a\"}\n[1]\n"), HasSubstr("d.jsonl:2: a JSON object is expected"));
    EXPECT_THAT(refusal("{\"txt\": \"a\"}\n"), HasSubstr("d.jsonl:1: there is no text \"text\""));
    EXPECT_THAT(refusal("{\"text\": 1}\n"), HasSubstr("d.jsonl:1: there is no text \"text\""));
    EXPECT_THAT(refusal("{\"text\": \"a\", \"label\": 1}\n"), HasSubstr("d.jsonl:1: \"label\" is no text"));
    EXPECT_THAT(refusal("{\"text\": \"a\"}\n", Task::run), HasSubstr("d.jsonl:1: there is no object \"inputs\""));
    EXPECT_THAT(refusal("{\"text\": \"\xFF\"}\n"), HasSubstr("d.jsonl:1: "));
    EXPECT_THAT(refusal("\n\n"), HasSubstr("d.jsonl: there are no rows"));
    EXPECT_THAT(test::message([&] { read_dataset({.file = temp / "none"}, Task::run); }), HasSubstr("none"));
}

}  // namespace
}  // namespace cairn::compare
