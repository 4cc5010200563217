// Randomly mutated tokenizer files: they load or are refused with a cairn::Error, and a loaded tokenizer works.
#include "cairn/text/stream_decoder.hpp"
#include "tests/io/json_reader/json_mutator.hpp"
#include "tokenizer_folder.hpp"

#include <map>

namespace cairn::text_test {
namespace {

using Files = std::map<std::string, std::string>;

const char* const bert_tokens = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nab\n##a\n##b\n!\n\xC3\xA9\n";

std::string config() {
    return R"({"tokenizer_class": null, "model_max_length": 512, "do_lower_case": true, "strip_accents": null,
        "add_prefix_space": false, "clean_up_tokenization_spaces": true, "unk_token": null,
        "pad_token": {"content": "a", "lstrip": false},
        "added_tokens_decoder": {"0": {"content": "<x>", "special": true, "lstrip": true, "normalized": false}}})";
}

Files bpe_files() {
    auto tokens = small_bpe_vocabulary({"he", "llo", "ll", "<x>"});
    std::string with_id = config();
    with_id.replace(with_id.find("\"0\""), 3, "\"" + std::to_string(tokens["<x>"].get<int>()) + "\"");
    return {{"vocab.json", tokens.dump()},
            {"merges.txt", "#version: 0.2\nh e\nl l\nll o\n"},
            {"added_tokens.json", R"({"<y>": 260, "<z>": 261})"},
            {"tokenizer_config.json", with_id}};
}

Files word_piece_files() {
    return {{"vocab.txt", bert_tokens},
            {"added_tokens.json", R"({"<y>": 12})"},
            {"tokenizer_config.json", R"({"do_lower_case": true, "pad_token": "[PAD]", "mask_token": "[MASK]"})"}};
}

Files bpe_json() {
    const nlohmann::json file = {
        {"version", "1.0"},
        {"added_tokens", {{{"id", 259}, {"content", "<x>"}, {"special", true}, {"rstrip", true}}}},
        {"normalizer", nullptr},
        {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
        {"post_processor", {{"type", "ByteLevel"}, {"trim_offsets", true}}},
        {"decoder", {{"type", "ByteLevel"}}},
        {"model",
         {{"type", "BPE"},
          {"dropout", nullptr},
          {"vocab", small_bpe_vocabulary({"he", "ll", "llo"})},
          {"merges", {"h e", {"l", "l"}, "ll o"}}}}};
    return {
        {"tokenizer.json", file.dump()},
        {"tokenizer_config.json",
         R"({"tokenizer_class": "GPT2Tokenizer", "eos_token": "<x>", "add_prefix_space": true, "truncation_side": "left"})"},
        {"special_tokens_map.json", R"({"eos_token": {"content": "<x>", "rstrip": true}})"},
        {"added_tokens.json", R"({"<y>": 260})"}};
}

Files word_piece_json() {
    nlohmann::json tokens;
    std::istringstream lines(bert_tokens);
    for (std::string line; std::getline(lines, line);) tokens[line] = tokens.size();
    const auto special = [](const char* token) { return nlohmann::json{{"SpecialToken", {{"id", token}}}}; };
    const auto text = [](const char* id) { return nlohmann::json{{"Sequence", {{"id", id}}}}; };
    const nlohmann::json file = {
        {"added_tokens", {{{"id", 4}, {"content", "[MASK]"}, {"special", true}, {"lstrip", true}}}},
        {"normalizer", {{"type", "BertNormalizer"}, {"clean_text", true}, {"lowercase", true}}},
        {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
        {"post_processor",
         {{"type", "TemplateProcessing"},
          {"single", {special("[CLS]"), text("A"), special("[SEP]")}},
          {"pair", {special("[CLS]"), text("A"), special("[SEP]"), text("B"), special("[SEP]")}}}},
        {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
        {"model",
         {{"type", "WordPiece"},
          {"unk_token", "[UNK]"},
          {"continuing_subword_prefix", "##"},
          {"max_input_chars_per_word", 100},
          {"vocab", tokens}}}};
    return {{"tokenizer.json", file.dump()},
            {"tokenizer_config.json",
             R"({"cls_token": "[CLS]", "do_lower_case": false, "strip_accents": true, "tokenize_chinese_chars": false,
                 "additional_special_tokens": ["ab", {"content": "!", "lstrip": true}], "split_special_tokens": false})"},
            {"config.json", R"({"model_type": "distilbert", "tokenizer_class": null})"}};
}

/// A folder of tests/data with its configuration.
Files saved_folder(const char* name) {
    Files files;
    for (const char* file : {"tokenizer.json", "tokenizer_config.json"}) {
        std::ifstream bytes(tests_folder() / "data/transformers5" / name / file, std::ios::binary);
        files[file] = std::string(std::istreambuf_iterator<char>(bytes), {});
    }
    return files;
}

Files roberta_json() {
    Files files = bpe_json();
    nlohmann::json file = nlohmann::json::parse(files["tokenizer.json"]);
    file["post_processor"] = {
        {"type", "RobertaProcessing"}, {"sep", {"<x>", 259}}, {"cls", {"he", 256}}, {"trim_offsets", true}};
    files["tokenizer.json"] = file.dump();
    files["tokenizer_config.json"] = R"({"tokenizer_class": "RobertaTokenizer", "sep_token": "<x>", "cls_token": "he",
        "mask_token": {"content": "llo", "lstrip": true}, "bos_token": "he", "eos_token": "<x>", "trim_offsets": true})";
    files["special_tokens_map.json"] = R"({"cls_token": "he"})";
    return files;
}

/// A small Unigram model with every supported part.
Files unigram_json() {
    const nlohmann::json metaspace = {
        {"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "first"}, {"split", true}};
    const auto type = [](const char* name) { return nlohmann::json{{"type", name}}; };
    const nlohmann::json file = {
        {"added_tokens",
         {{{"id", 0}, {"content", "<unk>"}, {"special", true}},
          {{"id", 9}, {"content", "<x>"}, {"special", false}, {"normalized", true}, {"lstrip", true}}}},
        {"normalizer",
         {{"type", "Sequence"},
          {"normalizers",
           {{{"type", "Replace"}, {"pattern", {{"String", "``"}}}, {"content", "\""}},
            {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}},
            type("NFKD"),
            type("StripAccents"),
            type("Lowercase"),
            type("NFC"),
            {{"type", "Strip"}, {"strip_left", true}, {"strip_right", false}}}}}},
        {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {type("WhitespaceSplit"), metaspace}}}},
        {"post_processor", {{"type", "RobertaProcessing"}, {"sep", {"b", 3}}, {"cls", {"<unk>", 0}}}},
        {"decoder", metaspace},
        {"model",
         {{"type", "Unigram"},
          {"unk_id", 0},
          {"byte_fallback", true},
          {"vocab", nlohmann::json::parse(R"([["<unk>", 0.0], ["▁", -2], ["a", -1.5], ["b", -1.5], ["▁a", -1.0],
                                              ["ab", -2.5], ["he", -3.25], ["<0xC3>", 0], ["<0xA9>", 0]])")}}}};
    return {{"tokenizer.json", file.dump()},
            {"tokenizer_config.json",
             R"({"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>", "keep_accents": false,
                 "do_lower_case": true, "extra_ids": 3, "clean_up_tokenization_spaces": true})"}};
}

/// Encodes and decodes unusual texts; all ids must be in the vocabulary.
void use(const text::Tokenizer& tokenizer) {
    for (const std::string_view text :
         {"hello a b!", "", "<x> \xC3\xA9\xC3", " [MASK]ab<|endoftext|> \xF0\x9F\x98\x80"}) {
        Ids ids = tokenizer.encode(text);
        const Ids pair = tokenizer.encode_pair(text, "ab", {.parse_special = false});
        ids.insert(ids.end(), pair.begin(), pair.end());
        for (const std::int32_t id : ids) {
            ASSERT_GE(id, 0);
            ASSERT_LT(static_cast<std::size_t>(id), tokenizer.vocabulary_size());
        }
        tokenizer.decode(ids);
        text::StreamDecoder stream(tokenizer);
        for (const std::int32_t id : ids) stream.push(id);
        stream.finish();
    }
}

void expect_errors_only(const Files& files, std::uint64_t seed, int rounds) {
    test::Mutator mutator(seed);
    const TokenizerFolder folder;
    const auto write = [&](const std::string& name, const std::string& bytes) {
        std::ofstream(folder.path() / name, std::ios::binary) << bytes;
    };
    for (const auto& [name, bytes] : files) write(name, bytes);
    use(*folder.load());
    int loaded = 0;
    for (int round = 0; round < rounds; ++round) {
        const auto spoilt = std::next(files.begin(), static_cast<std::ptrdiff_t>(mutator.below(files.size())));
        const std::string bytes = mutator.mutate(spoilt->second);
        write(spoilt->first, bytes);
        try {
            const auto tokenizer = folder.load();
            ++loaded;
            use(*tokenizer);
        } catch (const Error& error) {
            const std::string_view message = error.what();
            EXPECT_TRUE(error.kind() == ErrorKind::file || error.kind() == ErrorKind::unsupported) << message;
            EXPECT_TRUE(message.starts_with("[tokenizer] ")) << message;
            EXPECT_EQ(message.find_first_of("\n\r\x1B"), message.npos) << message;
        } catch (const std::exception& error) {
            ADD_FAILURE() << "seed " << seed << ", round " << round << ": " << error.what() << "\n"
                          << spoilt->first << ": " << bytes.substr(0, 2000);
        }
        write(spoilt->first, spoilt->second);
    }
    // A generator that damages everything, or nothing, would test nothing.
    EXPECT_GT(loaded, rounds / 40);
    EXPECT_LT(loaded, rounds * 39 / 40);
}

TEST(MutatedFiles, OfByteLevelBpe) { expect_errors_only(bpe_files(), 1, 1500); }
TEST(MutatedFiles, OfWordPiece) { expect_errors_only(word_piece_files(), 2, 2500); }
TEST(MutatedFiles, OfByteLevelBpeInOneFile) { expect_errors_only(bpe_json(), 3, 1500); }
TEST(MutatedFiles, OfRoberta) { expect_errors_only(roberta_json(), 5, 700); }
TEST(MutatedFiles, OfUnigram) { expect_errors_only(unigram_json(), 6, 1500); }
TEST(MutatedFiles, OfAlbert) { expect_errors_only(saved_folder("albert"), 7, 400); }
TEST(MutatedFiles, OfT5) { expect_errors_only(saved_folder("t5"), 8, 400); }
TEST(MutatedFiles, OfLlama2) { expect_errors_only(saved_folder("llama2"), 9, 500); }
TEST(MutatedFiles, OfLlama3) { expect_errors_only(saved_folder("llama3"), 10, 500); }
TEST(MutatedFiles, OfGemma) { expect_errors_only(saved_folder("gemma"), 11, 400); }
TEST(MutatedFiles, OfWordPieceInOneFile) { expect_errors_only(word_piece_json(), 4, 2500); }

}  // namespace
}  // namespace cairn::text_test
