// Folders whose files contradict each other, compared with the ids of versions 4 and 5 of transformers
// (tests/golden/tokenizer_config_cases.py).
#include "tokenizer_folder.hpp"

#include <algorithm>

namespace cairn::text_test {
namespace {

using nlohmann::json;

const json& golden() {
    static const json file = parse_json(tests_folder() / "golden/tokenizer_config_cases.json");
    return file;
}

void write_vocabulary(const json& tokenizer, TokenizerFolder& folder) {
    const json& model = tokenizer["model"];
    if (model["type"] == "BPE") {
        std::string merges = "#version: 0.2\n";
        for (const json& merge : model["merges"])
            merges += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
        folder.write("vocab.json", model["vocab"].dump()).write("merges.txt", merges);
        return;
    }
    std::vector<std::string> tokens(model["vocab"].size());
    for (const auto& [token, id] : model["vocab"].items()) tokens.at(id.get<std::size_t>()) = token;
    std::string lines;
    for (const std::string& token : tokens) lines += token + "\n";
    folder.write("vocab.txt", lines);
}

void write_folder(const json& one, TokenizerFolder& folder) {
    json tokenizer = parse_json(tests_folder() / "data/transformers5" / one["base"] / "tokenizer.json");
    if (one.contains("json")) tokenizer.merge_patch(one["json"]);
    if (one.contains("split"))
        write_vocabulary(tokenizer, folder);
    else
        folder.write("tokenizer.json", tokenizer.dump());
    const std::pair<const char*, const char*> files[] = {{"config", "tokenizer_config.json"},
                                                         {"model", "config.json"},
                                                         {"map", "special_tokens_map.json"},
                                                         {"added", "added_tokens.json"}};
    for (const auto& [member, name] : files)
        if (one.contains(member)) folder.write(name, one[member].dump());
}

/// The ids of those versions of transformers that load the folder; one list for each text. For a tokenizer.json without
/// a post_processor those of version 4: version 5 adds the tokens of BERT's class.
std::vector<json> expected_ids(const json& one) {
    std::vector<json> expected;
    const bool adds_nothing = one["base"] != "roberta" && one.contains("json") &&
                              one["json"].contains("post_processor") && one["json"]["post_processor"].is_null();
    if (adds_nothing && one.contains("ids4")) return {one["ids4"]};
    for (const char* version : {"ids", "ids4", "ids5"})
        if (one.contains(version) && !one[version].is_null()) expected.push_back(one[version]);
    return expected;
}

json ids_of(const text::Tokenizer& tokenizer, const json& one) {
    json all = json::array();
    const std::string base = one["base"];
    const json& texts = golden()["texts"];
    const text::EncodeOptions options{.max_length = one.value("max_length", std::size_t{0})};
    for (const json& text : texts[texts.contains(base) ? base : base.substr(0, 4)])
        all.push_back(text.is_array()
                          ? tokenizer.encode_pair(text[0].get<std::string>(), text[1].get<std::string>(), options)
                          : tokenizer.encode(text.get<std::string>(), options));
    return all;
}

/// The error message; empty if the folder loads.
std::string refusal(const TokenizerFolder& folder, std::unique_ptr<text::Tokenizer>& tokenizer) {
    try {
        tokenizer = folder.load();
        return "";
    } catch (const Error& error) { return error.what(); }
}

std::string label(const json& one) {
    json shown = one;
    for (const char* version : {"ids", "ids4", "ids5"}) shown.erase(version);
    return shown.dump();
}

TEST(TokenizerClass, IdsAreThoseOfEveryVersionThatLoadsTheFolder) {
    std::size_t loaded = 0;
    std::size_t refused = 0;
    for (const json& one : golden()["cases"]) {
        const std::vector<json> expected = expected_ids(one);
        TokenizerFolder folder;
        write_folder(one, folder);
        std::unique_ptr<text::Tokenizer> tokenizer;
        const std::string why = refusal(folder, tokenizer);
        if (tokenizer == nullptr) {
            ++refused;
            EXPECT_NE(why.find(folder.path().string()), why.npos) << "names no file: " << why;
            // A token outside the vocabulary is refused; transformers assigns it an id without a row in the model.
            const bool beyond_vocabulary = why.find("is not in the vocabulary") != why.npos;
            EXPECT_TRUE(!one.contains("ids") || one["ids"].is_null() || beyond_vocabulary) << label(one) << "\n" << why;
            continue;
        }
        ++loaded;
        const json ids = ids_of(*tokenizer, one);
        for (const json& list : expected) EXPECT_EQ(ids, list) << label(one);
    }
    EXPECT_GE(loaded, 650u);
    EXPECT_GE(refused, 180u);
}

TEST(TokenizerClass, ARefusalNamesBothValuesAndTheClass) {
    const auto refusal_of = [](const json& config, const json& patch) {
        TokenizerFolder folder;
        write_folder({{"base", "bert"}, {"config", config}, {"json", patch}}, folder);
        return error_of([&] { folder.load(); }, ErrorKind::unsupported);
    };
    const json cased = {{"normalizer", {{"lowercase", false}}}};
    EXPECT_NE(refusal_of({{"tokenizer_class", "MPNetTokenizer"}, {"do_lower_case", true}}, cased)
                  .find("do_lower_case is true, but lowercase of the normalizer is false in '"),
              std::string::npos);
    EXPECT_NE(refusal_of({{"tokenizer_class", "MPNetTokenizer"}}, cased)
                  .find("do_lower_case is not given, which means true, but lowercase of the normalizer is false"),
              std::string::npos);
    EXPECT_NE(refusal_of({{"do_lower_case", true}}, cased).find("no tokenizer_class says which of them holds"),
              std::string::npos);
    EXPECT_NE(refusal_of({{"tokenizer_class", "BertTokenizer"}}, {{"normalizer", {{"clean_text", false}}}})
                  .find("clean_text is false, but transformers 5 uses true for the class 'BertTokenizer'"),
              std::string::npos);
    EXPECT_NE(refusal_of({{"tokenizer_class", "BertTokenizer"}, {"cls_token", "[MASK]"}}, json::object())
                  .find("the post_processor is another, but transformers 5 uses '[MASK]' before a text"),
              std::string::npos);
}

TEST(TokenizerClass, ASpecialTokenHasOneSetOfFlags) {
    const auto refusal_of = [](const json& config) {
        TokenizerFolder folder;
        write_folder({{"base", "gpt2"}, {"config", config}, {"split", true}}, folder);
        return error_of([&] { folder.load(); }, ErrorKind::unsupported);
    };
    const json stripping = {{"content", "he"}, {"special", true}, {"rstrip", true}};
    const std::string fault = "the special token 'he' has lstrip, rstrip or normalized in one role and not in another";
    EXPECT_NE(refusal_of({{"bos_token", "he"}, {"eos_token", stripping}}).find(fault), std::string::npos);
    EXPECT_EQ(refusal_of({{"bos_token", stripping}, {"eos_token", stripping}}), "");
    EXPECT_EQ(
        refusal_of({{"bos_token", "he"}, {"eos_token", stripping}, {"added_tokens_decoder", {{"258", stripping}}}}),
        "");
}

TEST(TokenizerClass, PairsAreTruncatedAtTheSideOfTheConfiguration) {
    TokenizerFolder folder;
    folder.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\nb\nc\nd\ne\n");
    folder.write("tokenizer_config.json", R"({"truncation_side": "left"})");
    EXPECT_EQ(folder.load()->encode_pair("a b c", "d e", {.max_length = 6}), (Ids{1, 4, 5, 2, 7, 2}));
    folder.write("tokenizer_config.json", R"({"truncation_side": "up"})");
    EXPECT_NE(error_of([&] { folder.load(); }, ErrorKind::file).find("expected right or left for 'truncation_side'"),
              std::string::npos);
}

}  // namespace
}  // namespace cairn::text_test
