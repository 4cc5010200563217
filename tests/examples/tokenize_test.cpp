#include "tests/apps/models/golden.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

/// Runs all golden texts through the program, with one process for each folder and direction.
namespace cairn::test {
namespace {

using nlohmann::json;

Outcome tokenize(const std::string& folder, const std::string& input, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--tokenizer", std::string(CAIRN_SOURCE_DIR) + "/" + folder, "--input", "-"});
    return run(CAIRN_TOKENIZE, more, {.input = input});
}

/// The values of `key` in all cases, one per line.
std::string lines(const json& cases, const char* key) {
    std::string text;
    for (const json& c : cases) text += c.at(key).dump() + "\n";
    return text;
}

/// Compares value by value, so that a failure shows the text.
void expect_lines(const std::string& out, const json& cases, const char* key) {
    const std::vector<std::string> rows = lines_of(out);
    ASSERT_EQ(rows.size(), cases.size());
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(json::parse(rows[i]), cases[i].at(key)) << cases[i].dump();
}

TEST(TokenizeProgram, Gpt2) {
    const json cases = golden("gpt2_tokenizer_cases.json").at("cases");
    ASSERT_EQ(cases.size(), 362U);
    const Outcome ids = tokenize("tests/data/gpt2", lines(cases, "text"));
    EXPECT_TRUE(succeeds(ids));
    expect_lines(ids.out, cases, "ids");
    const Outcome texts = tokenize("tests/data/gpt2", lines(cases, "ids"), {"--decode"});
    EXPECT_TRUE(succeeds(texts));
    expect_lines(texts.out, cases, "decoded");
}

TEST(TokenizeProgram, Bert) {
    const json cases = golden("bert_tokenizer_cases.json").at("cases");
    ASSERT_EQ(cases.size(), 362U);
    const Outcome ids = tokenize("tests/data/bert", lines(cases, "text"));
    EXPECT_TRUE(succeeds(ids));
    expect_lines(ids.out, cases, "ids");
}

TEST(TokenizeProgram, TheEmbeddedModels) {
    const json gpt2 = golden("shakespeare_gpt2.json").at("cases"), bert = golden("sst2_distilbert.json").at("cases");
    expect_lines(tokenize("examples/models/shakespeare-gpt2", lines(gpt2, "prompt")).out, gpt2, "ids");
    json uncut = json::array();
    for (const json& c : bert)
        if (c.at("ids").size() < 128) uncut.push_back(c);
    ASSERT_GT(uncut.size(), 50U);
    expect_lines(tokenize("examples/models/sst2-distilbert", lines(uncut, "text")).out, uncut, "ids");
}

TEST(TokenizeProgram, SpecialTokensOnRequestOnly) {
    const std::string text = "\"a<|endoftext|>\"\n";
    EXPECT_EQ(tokenize("tests/data/gpt2", text).out, "[64,50256]\n");
    EXPECT_EQ(tokenize("tests/data/gpt2", text, {"--no-special"}).out, "[64,27,91,437,1659,5239,91,29]\n");
    EXPECT_EQ(tokenize("tests/data/bert", "\"a\"\n", {"--no-special"}).out, "[1037]\n");
}

/// A tokenizer.json with the contents of vocab.json and merges.txt, as the reference implementation writes it.
TEST(TokenizeProgram, ATokenizerJsonGivesEqualIds) {
    const std::filesystem::path source = std::string(CAIRN_SOURCE_DIR) + "/examples/models/shakespeare-gpt2";
    std::vector<std::string> merges = lines_of(read_file(source / "merges.txt"));
    if (!merges.empty() && merges.front().starts_with("#version")) merges.erase(merges.begin());
    const json byte_level = {
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
    const json file = {{"version", "1.0"},
                       {"truncation", nullptr},
                       {"padding", nullptr},
                       {"normalizer", nullptr},
                       {"added_tokens",
                        {{{"id", 1023},
                          {"content", "<|endoftext|>"},
                          {"single_word", false},
                          {"lstrip", false},
                          {"rstrip", false},
                          {"normalized", false},
                          {"special", true}}}},
                       {"pre_tokenizer", byte_level},
                       {"post_processor", byte_level},
                       {"decoder", byte_level},
                       {"model",
                        {{"type", "BPE"},
                         {"dropout", nullptr},
                         {"unk_token", nullptr},
                         {"continuing_subword_prefix", ""},
                         {"end_of_word_suffix", ""},
                         {"fuse_unk", false},
                         {"vocab", json::parse(read_file(source / "vocab.json"))},
                         {"merges", merges}}}};
    const TempFolder folder;
    folder.write("tokenizer.json", file.dump());
    const json cases = golden("gpt2_tokenizer_cases.json").at("cases");
    const Outcome by_json =
        run(CAIRN_TOKENIZE, {"--tokenizer", folder.path().string(), "--input", "-"}, {.input = lines(cases, "text")});
    EXPECT_TRUE(succeeds(by_json));
    EXPECT_EQ(lines_of(by_json.out).size(), cases.size());
    EXPECT_EQ(by_json.out, tokenize("examples/models/shakespeare-gpt2", lines(cases, "text")).out);
}

}  // namespace
}  // namespace cairn::test
