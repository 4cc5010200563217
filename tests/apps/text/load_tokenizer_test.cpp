#include "tokenizer_folder.hpp"

namespace cairn::text_test {
namespace {

/// A folder with a valid small BPE; each test damages one file.
class LoadTokenizer : public testing::Test {
protected:
    LoadTokenizer() { folder_.write("vocab.json", small_bpe_vocabulary({"he"}).dump()).write("merges.txt", "h e\n"); }

    void write(const std::string& name, std::string_view bytes) { folder_.write(name, bytes); }
    void remove(const std::string& name) { std::filesystem::remove(folder_.path() / name); }
    void only_word_piece(std::string_view lines) {
        remove("vocab.json");
        remove("merges.txt");
        write("vocab.txt", lines);
    }

    void expect(ErrorKind kind, const std::string& part) {
        const std::string text = error_of([&] { folder_.load(); }, kind);
        EXPECT_NE(text.find(part), std::string::npos) << "got: " << text;
        EXPECT_EQ(text.rfind("[tokenizer] ", 0), 0u) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
        EXPECT_NE(text.find(folder_.path().string()), std::string::npos) << "names no file: " << text;
    }
    void expect_bad(const std::string& part) { expect(ErrorKind::file, part); }

    TokenizerFolder folder_;
};

TEST_F(LoadTokenizer, ValidFilesLoad) { EXPECT_EQ(folder_.load()->encode("he"), Ids{256}); }

TEST_F(LoadTokenizer, MissingFiles) {
    remove("merges.txt");
    expect_bad("merges.txt");
    remove("vocab.json");
    expect_bad("expected tokenizer.json, vocab.json with merges.txt, or vocab.txt, got none of them");
    write("merges.txt", "h e\n");
    expect_bad("vocab.json");
    EXPECT_NE(error_of([] { text::load_tokenizer("/no/such/folder"); }, ErrorKind::file), "");
}

TEST_F(LoadTokenizer, AFolderInsteadOfAFile) {
    remove("vocab.json");
    std::filesystem::create_directory(folder_.path() / "vocab.json");
    expect_bad("expected a file that can be read");
}

TEST_F(LoadTokenizer, MalformedJson) {
    write("vocab.json", "{\"a\": 0,");
    expect_bad("the text is not valid JSON at byte 9");
    write("vocab.json", "[1]");
    expect_bad("expected a JSON object, got array");
    write("vocab.json", "");
    expect_bad("the text is not valid JSON at byte 1");
    write("vocab.json", std::string(100000, '['));
    expect_bad("the text is nested more than 64 deep");
    write("vocab.json", "{\"\xFF\": 0}");
    expect_bad("the text is not valid UTF-8 at byte 3");
    write("vocab.json", "{\"a\": 1e999}");
    expect_bad("the text holds a number beyond the range of a double at byte 11");
    write("vocab.json", "{\"a\": 0, \"a\": 1}");
    expect_bad("the text holds the key 'a' twice in one object");
    write("vocab.json", "{\"a\": \"0\"}");
    expect_bad("expected an integer as the id of 'a', got string");
    write("vocab.json", "{}");
    expect_bad("the vocabulary is empty");
}

TEST_F(LoadTokenizer, AByteOrderMarkIsSkipped) {
    const std::string mark = "\xEF\xBB\xBF";
    write("vocab.json", mark + small_bpe_vocabulary({"he"}).dump());
    write("merges.txt", mark + "#version: 0.2\nh e\n");
    EXPECT_EQ(folder_.load()->encode("he"), Ids{256});
    only_word_piece(mark + "[UNK]\n[CLS]\n[SEP]\na\n");
    EXPECT_EQ(folder_.load()->encode("a"), (Ids{1, 3, 2}));
}

TEST_F(LoadTokenizer, AddBosToken) {
    write("vocab.json", small_bpe_vocabulary({"he", "<s>"}).dump());
    write("tokenizer_config.json", R"({"add_bos_token": true, "bos_token": "<s>"})");
    EXPECT_EQ(folder_.load()->encode("he"), (Ids{257, 256}));
    EXPECT_EQ(folder_.load()->encode("he", {.add_special = false}), Ids{256});
    EXPECT_EQ(folder_.load()->encode_pair("he", "he", {.max_length = 3}), (Ids{257, 257, 256}));
    write("tokenizer_config.json", R"({"add_bos_token": true})");
    expect_bad("add_bos_token needs a bos_token");
}

TEST_F(LoadTokenizer, InconsistentIds) {
    auto tokens = small_bpe_vocabulary({"he"});
    tokens["he"] = 300;
    write("vocab.json", tokens.dump());
    expect_bad("expected the ids 0 to 256 for 257 tokens, got id 300 for 'he'");
    tokens["he"] = 64;
    write("vocab.json", tokens.dump());
    expect_bad("id 64 is given to");
    tokens["he"] = -1;
    write("vocab.json", tokens.dump());
    expect_bad("got id -1");
    tokens["he"] = std::uint64_t{1} << 63;
    write("vocab.json", tokens.dump());
    expect_bad("expected the ids");
    tokens = small_bpe_vocabulary({"he"});
    tokens.erase("a");
    tokens["he"] = 64;
    write("vocab.json", tokens.dump());
    expect_bad("byte 97, spelled 'a', has no token");
}

TEST_F(LoadTokenizer, InvalidMerges) {
    write("merges.txt", "h e\nx\n");
    expect_bad("expected a merge of two tokens separated by a space, got 'x'");
    expect_bad("merges.txt:2)");
    write("merges.txt", "h e x\n");
    expect_bad("got 'h e x'");
    write("merges.txt", "h i\n");
    expect_bad("merge 1 needs 'hi', which is not in the vocabulary");
    write("merges.txt", "h e\nh e\n");
    expect_bad("merge 2 of 'h' and 'e' came before");
    write("merges.txt", "h e\n#version: 0.2\n");  // only the first line may be one
    expect_bad("merge 2 needs '#version:0.2'");
}

TEST_F(LoadTokenizer, InvalidVocabularyLines) {
    const std::string special = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n";
    only_word_piece(special + "a\n\nb\n");
    expect_bad("expected a token, got an empty line");
    expect_bad("vocab.txt:6)");
    only_word_piece(special + "a\nb\na\n");
    expect_bad("token 'a' has the ids 4 and 6");
    only_word_piece("[CLS]\n[SEP]\na\n");
    expect_bad("WordPiece needs an unk_token");
    only_word_piece("[UNK]\n[CLS]\na\n");
    expect_bad("the token '[SEP]' that encoding adds is not in the vocabulary");
    only_word_piece("");
    expect_bad("the vocabulary is empty");
    only_word_piece("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\na\r\n\r\n");
    EXPECT_EQ(folder_.load()->encode("a"), (Ids{2, 4, 3}));
}

TEST_F(LoadTokenizer, InvalidConfig) {
    write("tokenizer_config.json", R"({"eos_token": "<eos>"})");
    expect_bad("the eos_token '<eos>' is not in the vocabulary");
    write("tokenizer_config.json", R"({"add_prefix_space": "yes"})");
    expect_bad("expected true or false for 'add_prefix_space', got string");
    write("tokenizer_config.json", R"({"eos_token": 5})");
    expect_bad("expected a string for 'eos_token', got number");
    for (const char* length : {"0", "0.5", "-3", "\"512\"", "[]", "7.25"}) {
        write("tokenizer_config.json", std::string(R"({"model_max_length": )") + length + "}");
        expect_bad("expected a positive whole number for 'model_max_length'");
    }
    write("tokenizer_config.json", R"({"added_tokens_decoder": {"x": {"content": "a"}}})");
    expect_bad("expected an id as a key of 'added_tokens_decoder', got 'x'");
    write("tokenizer_config.json", R"({"added_tokens_decoder": {"300": {"content": "<x>"}}})");
    expect_bad("got id 300 for '<x>'");
    write("tokenizer_config.json", R"({"added_tokens_decoder": {"257": {"content": "he"}}})");
    expect_bad("added token 'he' has the ids 256 and 257");
    write("tokenizer_config.json", R"({"added_tokens_decoder": {"257": {}}})");
    expect_bad("added token 257 has no content");
}

TEST_F(LoadTokenizer, UnsupportedKindsAreNamed) {
    const auto expect_refused = [&](const std::string& part) { expect(ErrorKind::unsupported, part); };
    write("tokenizer_config.json", R"({"tokenizer_class": "CLIPTokenizer"})");
    expect_refused("'CLIPTokenizer'");
    write("tokenizer_config.json", R"({"added_tokens_decoder": {"257": {"content": "x", "single_word": true}}})");
    expect_refused("single_word");
    write("tokenizer_config.json", "{}");

    const auto expect_json = [&](const std::string& pointer, const nlohmann::json& value, const std::string& part) {
        nlohmann::json file = {
            {"model", {{"type", "BPE"}, {"vocab", small_bpe_vocabulary()}, {"merges", nlohmann::json::array()}}},
            {"pre_tokenizer", {{"type", "ByteLevel"}}}};
        file[nlohmann::json::json_pointer(pointer)] = value;
        write("tokenizer.json", file.dump());
        expect_refused(part);
    };
    expect_json("/model/type", "WordLevel", "a model of type 'WordLevel'");
    expect_json("/model/byte_fallback", true, "byte_fallback");
    expect_json("/model/end_of_word_suffix", "</w>", "end_of_word_suffix");
    expect_json("/model/dropout", 0.1, "dropout");
    expect_json("/normalizer/type", "ByteLevel", "a normalizer of type 'ByteLevel'");
    const auto steps = [&](const char* before, const char* after, const std::string& part) {
        const nlohmann::json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
        nlohmann::json sequence = {{"type", "Sequence"}, {"pretokenizers", nlohmann::json::array()}};
        for (const nlohmann::json& step : {nlohmann::json::parse(before), byte_level, nlohmann::json::parse(after)})
            if (!step.empty()) sequence["pretokenizers"].push_back(step);
        expect_json("/pre_tokenizer", sequence, part);
    };
    steps(R"({"type": "Split", "pattern": {"Regex": "\\w+"}, "behavior": "Isolated"})", "{}",
          R"(a Split pre_tokenizer with the regular expression '\w+' is not supported)");
    steps(R"({"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated"})", "{}",
          "without a regular expression");
    steps(R"({"type": "Split", "pattern": {"Regex": "\\p{N}"}, "behavior": "Removed", "invert": true})", "{}",
          "with the behavior 'Removed', inverted, is not supported");
    steps(R"({"type": "Digits"})", "{}", "without individual_digits");
    steps(R"({"type": "Punctuation"})", "{}", "a pre_tokenizer of type 'Punctuation'");
    steps("{}", R"({"type": "Digits", "individual_digits": true})", "'Digits' after ByteLevel");
    expect_json("/decoder/type", "Metaspace", "a decoder of type 'Metaspace'");
    const auto adding = [](const char* token) {
        return nlohmann::json{{"type", "BertProcessing"}, {"cls", {token, 0}}, {"sep", {token, 0}}};
    };
    expect_json("/post_processor", {{"type", "Sequence"}, {"processors", {adding("a"), adding("b")}}},
                "a post_processor with two steps that add tokens");
    expect_json("/post_processor/type", "SplitProcessing", "a post_processor of type 'SplitProcessing'");
    remove("tokenizer.json");
    remove("vocab.json");
    remove("merges.txt");
    write("spiece.model", "");
    expect_refused("SentencePiece");
}

TEST_F(LoadTokenizer, MalformedTokenizerJson) {
    const auto expect_json = [&](const std::string& text, const std::string& part) {
        write("tokenizer.json", text);
        expect_bad(part);
    };
    expect_json("{}", "expected a member 'model'");
    expect_json(R"({"model": 1})", "expected an object for 'model'");
    const std::string tail = R"("pre_tokenizer": {"type": "ByteLevel"}})";
    expect_json(R"({"model": {"type": "BPE"}, )" + tail, "expected a member 'vocab'");
    expect_json(R"({"model": {"type": "BPE", "vocab": []}, )" + tail, "expected tokens and their ids, got array");
    expect_json(R"({"model": {"type": "BPE", "vocab": {"a": 0}}, )" + tail, "expected a member 'merges'");
    expect_json(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [3]}, )" + tail,
                "expected two tokens for merge 1");
    expect_json(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "added_tokens": [1], )" + tail,
                "expected objects in 'added_tokens'");
    expect_json(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": "a"}, )" + tail,
                "has no token");
}

TEST_F(LoadTokenizer, BpeOfCharactersNamesWhatItDoesNotSupport) {
    const auto expect_json = [&](ErrorKind kind, const std::string& pointer, const nlohmann::json& value,
                                 const std::string& part) {
        nlohmann::json file = {
            {"model", {{"type", "BPE"}, {"vocab", {{"<unk>", 0}, {"a", 1}}}, {"merges", nlohmann::json::array()}}},
            {"decoder", {{"type", "Fuse"}}}};
        file[nlohmann::json::json_pointer(pointer)] = value;
        write("tokenizer.json", file.dump());
        expect(kind, part);
    };
    const auto unsupported = ErrorKind::unsupported;
    expect_json(unsupported, "/decoder", nullptr, "a decoder of type 'null'");
    const auto decoders = [](const char* steps) {
        return nlohmann::json{{"type", "Sequence"}, {"decoders", nlohmann::json::parse(steps)}};
    };
    expect_json(unsupported, "/decoder", decoders(R"([{"type": "Fuse"}, {"type": "ByteFallback"}])"),
                "a decoder with 'ByteFallback' at its place");
    expect_json(unsupported, "/decoder", decoders(R"([{"type": "Strip", "content": " ", "start": 1}])"),
                "a decoder without Fuse of type 'Strip'");
    expect_json(unsupported, "/decoder",
                decoders(R"([{"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 2}])"),
                "for one space at the start only");
    expect_json(unsupported, "/decoder",
                decoders(R"([{"type": "Replace", "pattern": {"Regex": "_"}, "content": " "}])"),
                "for a string and a space only");
    expect_json(unsupported, "/pre_tokenizer",
                {{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "Isolated"}},
                "MergedWithPrevious only");
    expect_json(unsupported, "/normalizer", {{"type", "Nmt"}}, "a normalizer of type 'Nmt'");
    expect_json(ErrorKind::file, "/model/unk_token", "<none>", "the unknown token '<none>' is not in the vocabulary");
    expect_json(ErrorKind::file, "/model/merges", nlohmann::json::parse(R"([["a", "a"]])"), "merge 1 needs 'aa'");
}

TEST_F(LoadTokenizer, TheTemplateOfLlamasClassesIsThatOfTheConfiguration) {
    const nlohmann::json file = {
        {"model", {{"type", "BPE"}, {"vocab", {{"<s>", 0}, {"a", 1}}}, {"merges", nlohmann::json::array()}}},
        {"decoder", {{"type", "Fuse"}}}};
    write("tokenizer.json", file.dump());
    write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizerFast"})");
    expect(ErrorKind::unsupported,
           "the post_processor lacks a token where add_bos_token is true for the class 'LlamaTokenizer'");
    write("tokenizer_config.json",
          R"({"tokenizer_class": "GemmaTokenizer", "add_bos_token": false, "add_eos_token": true})");
    expect(ErrorKind::unsupported, "lacks a token where add_eos_token is true");
    write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer", "add_bos_token": false})");
    EXPECT_EQ(text::load_tokenizer(folder_.path())->encode("aa"), (Ids{1, 1}));
}

}  // namespace
}  // namespace cairn::text_test
