#include "tests/examples/run_program.hpp"
#include "tests/models/golden.hpp"
#include "tests/weights/file_maker.hpp"

/// The embedded classifier against the reference, by each way of giving it texts.
namespace cairn::test {
namespace {

using nlohmann::json;

const json& cases() {
    static const json list = golden("sst2_distilbert.json").at("cases");
    return list;
}

Outcome distilbert(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), {"--mode", "off", "--no-progress"});
    return run(CAIRN_DISTILBERT, arguments, {.input = input});
}

std::string texts_as_json() {
    std::string lines;
    for (const json& c : cases()) lines += c.at("text").dump() + "\n";
    return lines;
}

void expect_case(const json& actual, const json& expected) {
    EXPECT_EQ(actual.size(), 4U) << actual;
    EXPECT_EQ(actual.at("text"), expected.at("text"));
    EXPECT_EQ(actual.at("label"), expected.at("label")) << expected.at("text");
    EXPECT_NEAR(actual.at("probability").get<double>(), expected.at("probability").get<double>(), 1e-5)
        << expected.at("text");
    EXPECT_LE(largest_difference(actual.at("logits").get<std::vector<float>>(), expected.at("logits")), 5e-5)
        << expected.at("text");
}

TEST(DistilBertProgram, AFileOfJsonStrings) {
    const TempFolder folder;
    const std::string path = folder.write("texts.jsonl", texts_as_json()).string();
    const Outcome result = distilbert({"--input", path, "--json"});
    EXPECT_TRUE(succeeds(result));
    const std::vector<std::string> rows = lines_of(result.out);
    ASSERT_EQ(rows.size(), cases().size());
    for (std::size_t i = 0; i < rows.size(); ++i) expect_case(json::parse(rows[i]), cases()[i]);
}

TEST(DistilBertProgram, StandardInputInBatches) {
    const Outcome result = distilbert({"--input", "-", "--json", "--batch", "7"}, texts_as_json());
    EXPECT_TRUE(succeeds(result));
    const std::vector<std::string> rows = lines_of(result.out);
    ASSERT_EQ(rows.size(), cases().size());
    for (std::size_t i = 0; i < rows.size(); ++i) expect_case(json::parse(rows[i]), cases()[i]);
}

TEST(DistilBertProgram, PlainLines) {
    std::string input;
    json plain = json::array();
    for (const json& c : cases()) {
        const auto text = c.at("text").get<std::string>();
        if (text.find('\n') != std::string::npos || text.empty()) continue;
        plain.push_back(c);
        input += text + "\n";
    }
    ASSERT_GT(plain.size(), 40U);
    const Outcome as_json = distilbert({"--input", "-", "--lines", "--json"}, input);
    EXPECT_TRUE(succeeds(as_json));
    const std::vector<std::string> rows = lines_of(as_json.out);
    ASSERT_EQ(rows.size(), plain.size());
    for (std::size_t i = 0; i < rows.size(); ++i) expect_case(json::parse(rows[i]), plain[i]);

    const Outcome shown = distilbert({"--input", "-", "--lines"}, input);
    const std::vector<std::string> sentences = lines_of(shown.out);
    ASSERT_EQ(sentences.size(), plain.size());
    for (std::size_t i = 0; i < sentences.size(); ++i) {
        EXPECT_TRUE(sentences[i].starts_with(plain[i].at("label").get<std::string>() + " 0.")) << sentences[i];
        EXPECT_TRUE(sentences[i].ends_with(" " + plain[i].at("text").get<std::string>())) << sentences[i];
    }
}

TEST(DistilBertProgram, OneSentenceAndTheEmptyOne) {
    const Outcome sentence = distilbert({"--json", cases()[0].at("text").get<std::string>()});
    EXPECT_TRUE(succeeds(sentence));
    expect_case(json::parse(sentence.out), cases()[0]);
    const Outcome empty = distilbert({"--json", ""}), line = distilbert({"--json", "--lines", "--input", "-"}, "\n"),
                  string = distilbert({"--json", "--input", "-"}, "\"\"");
    EXPECT_TRUE(succeeds(empty));
    EXPECT_EQ(json::parse(empty.out).at("text"), "");
    EXPECT_EQ(json::parse(empty.out).at("logits").size(), 2U);
    EXPECT_EQ(line.out, empty.out);
    EXPECT_EQ(string.out, empty.out);
    const Outcome nothing = distilbert({"--input", "-"});
    EXPECT_TRUE(succeeds(nothing));
    EXPECT_EQ(nothing.out, "");
}

TEST(DistilBertProgram, IdsWithAndWithoutMasks) {
    std::string lines;
    for (const json& c : cases()) {
        json padded = {{"ids", c.at("ids")}, {"mask", c.at("attention_mask")}};
        if (padded["ids"].size() < 120) {
            padded["ids"].insert(padded["ids"].end(), {0, 0, 0});
            padded["mask"].insert(padded["mask"].end(), {0, false, 0});
        }
        lines += json{{"ids", c.at("ids")}}.dump() + "\n" + padded.dump() + "\n";
    }
    const TempFolder folder;
    const Outcome result = distilbert({"--input-ids", folder.write("ids.jsonl", lines).string()});
    EXPECT_TRUE(succeeds(result));
    const std::vector<std::string> rows = lines_of(result.out);
    ASSERT_EQ(rows.size(), 2 * cases().size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_LE(largest_difference(json::parse(rows[i]).get<std::vector<float>>(), cases()[i / 2].at("logits")), 5e-5)
            << rows[i];
}

}  // namespace
}  // namespace cairn::test
