#include "tests/apps/models/golden.hpp"
#include "tests/apps/models/tiny_model.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <algorithm>
#include <cmath>

/// Compares the embedded classifier with the reference for each form of input.
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

/// The messages for the three reference texts that exceed the model's length; `first` is the number of the first one.
std::string cut_lines(int first) {
    std::string lines;
    for (const int tokens : {202, 228, 254})
        lines +=
            "text " + std::to_string(first++) + " is truncated from " + std::to_string(tokens) + " to 128 tokens\n";
    return lines;
}

TEST(DistilBertProgram, AFileOfJsonStrings) {
    const TempFolder folder;
    const std::string path = folder.write("texts.jsonl", texts_as_json()).string();
    const Outcome result = distilbert({"--input", path, "--json"});
    EXPECT_TRUE(succeeds(result, cut_lines(56)));
    const std::vector<std::string> rows = lines_of(result.out);
    ASSERT_EQ(rows.size(), cases().size());
    for (std::size_t i = 0; i < rows.size(); ++i) expect_case(json::parse(rows[i]), cases()[i]);
}

TEST(DistilBertProgram, StandardInputInBatches) {
    const Outcome result = distilbert({"--input", "-", "--json", "--batch", "7"}, texts_as_json());
    EXPECT_TRUE(succeeds(result, cut_lines(56)));
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
    EXPECT_TRUE(succeeds(as_json, cut_lines(54)));
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

TEST(DistilBertProgram, ATruncatedTextIsNamed) {
    std::string longer;
    for (int i = 0; i < 200; ++i) longer += "good ";
    const std::string cut_at_128 = "text 2 is truncated from 202 to 128 tokens\n";
    const Outcome whole = distilbert({"--input", "-", "--lines"}, "good\n" + longer + "\n");
    EXPECT_TRUE(succeeds(whole, cut_at_128));
    EXPECT_EQ(whole.err, cut_at_128);
    const Outcome few = distilbert({"--max-length", "4", "--json", "good good bad bad bad bad"}),
                  same = distilbert({"--json", "good good"});
    EXPECT_EQ(few.err, "text 1 is truncated from 8 to 4 tokens\n");
    EXPECT_EQ(json::parse(few.out).at("logits"), json::parse(same.out).at("logits"));
    EXPECT_EQ(same.err, "");
}

TEST(DistilBertProgram, TheMaximumLengthOfTheTokenizerApplies) {
    const TempFolder folder;
    TinyModel model = tiny_distilbert();
    model.files["tokenizer_config.json"] = R"({"tokenizer_class": "DistilBertTokenizer", "model_max_length": 5})";
    model.write(folder / "model");
    const auto warnings = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"--model", (folder / "model").string(), "a b c d"});
        return distilbert(more).err;
    };
    EXPECT_EQ(warnings({}), "text 1 is truncated from 6 to 5 tokens\n");
    EXPECT_EQ(warnings({"--max-length", "6"}), "");
}

/// The problem type in config.json determines the number printed with the most likely label.
TEST(DistilBertProgram, MultiLabelModelsHaveIndependentProbabilities) {
    const TempFolder folder;
    const auto printed = [&](const char* problem_type) {
        TinyModel model = tiny_distilbert();
        model.config.erase("id2label");
        if (*problem_type != '\0') model.config["problem_type"] = problem_type;
        model.write(folder / "model");
        const Outcome outcome = distilbert({"--model", (folder / "model").string(), "--json", "a b"});
        EXPECT_TRUE(succeeds(outcome));
        return json::parse(outcome.out);
    };
    const json plain = printed(""), several = printed("multi_label_classification"), value = printed("regression");
    EXPECT_TRUE(plain.at("label").get<std::string>().starts_with("LABEL_"));
    const auto logits = plain.at("logits").get<std::vector<double>>();
    const double best = std::max(logits[0], logits[1]), other = std::min(logits[0], logits[1]);
    EXPECT_NEAR(plain.at("probability").get<double>(), 1 / (1 + std::exp(other - best)), 1e-6);
    EXPECT_NEAR(several.at("probability").get<double>(), 1 / (1 + std::exp(-best)), 1e-6);
    EXPECT_NEAR(value.at("probability").get<double>(), best, 1e-6);
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
