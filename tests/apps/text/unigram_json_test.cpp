// Members of a tokenizer.json with a Unigram model: what is refused, and by which words.
#include "tokenizer_folder.hpp"

namespace cairn::text_test {
namespace {

using nlohmann::json;

json small_file() {
    const json metaspace = {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}, {"split", true}};
    return {{"added_tokens", {{{"id", 0}, {"content", "<unk>"}, {"special", true}}}},
            {"normalizer", {{"type", "NFKC"}}},
            {"pre_tokenizer", metaspace},
            {"decoder", metaspace},
            {"model",
             {{"type", "Unigram"},
              {"unk_id", 0},
              {"vocab",
               json::parse(R"([["<unk>", 0.0], ["▁", -2], ["a", -1.5], ["b", -1.5], ["▁a", -1.0], ["ab", -2.5]])")}}}};
}

class UnigramJson : public testing::Test {
protected:
    /// The error of the small file with one member replaced; "" if it loads.
    std::string error_with(const std::string& pointer, const json& value, ErrorKind kind) {
        json file = small_file();
        file[json::json_pointer(pointer)] = value;
        folder_.write("tokenizer.json", file.dump());
        return error_of([&] { folder_.load(); }, kind);
    }
    void expect_refused(const std::string& pointer, const json& value, const std::string& part) {
        const std::string text = error_with(pointer, value, ErrorKind::unsupported);
        EXPECT_NE(text.find(part), text.npos) << "got: " << text;
    }
    void expect_bad(const std::string& pointer, const json& value, const std::string& part) {
        const std::string text = error_with(pointer, value, ErrorKind::file);
        EXPECT_NE(text.find(part), text.npos) << "got: " << text;
    }

    TokenizerFolder folder_;
};

TEST_F(UnigramJson, ASmallFile) {
    folder_.write("tokenizer.json", small_file().dump());
    const auto tokenizer = folder_.load();
    EXPECT_EQ(tokenizer->encode("a ab x"), (Ids{4, 4, 3, 1, 0}));
    EXPECT_EQ(tokenizer->encode("a<unk>b"), (Ids{4, 0, 1, 3}));
    EXPECT_EQ(tokenizer->decode(Ids{4, 1, 5, 0}), "a ab<unk>");
    EXPECT_EQ(tokenizer->vocabulary_size(), 6u);
    EXPECT_EQ(tokenizer->special().unk, 0);
    EXPECT_FALSE(tokenizer->cleans_up());
    folder_.write("tokenizer_config.json", R"({"clean_up_tokenization_spaces": true})");
    EXPECT_TRUE(folder_.load()->cleans_up());
}

TEST_F(UnigramJson, UnsupportedPartsAreNamed) {
    expect_refused("/normalizer", {{"type", "Nmt"}}, "a normalizer of type 'Nmt'");
    expect_refused("/normalizer", {{"type", "Sequence"}, {"normalizers", {{{"type", "BertNormalizer"}}}}},
                   "a normalizer of type 'BertNormalizer'");
    expect_refused("/normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", "a+"}}}, {"content", ""}},
                   "the regular expression 'a+'");
    expect_refused("/normalizer", {{"type", "Replace"}, {"pattern", {{"String", ""}}}, {"content", "x"}},
                   "a Replace normalizer without a pattern");
    expect_refused("/pre_tokenizer", {{"type", "Digits"}}, "a pre_tokenizer of type 'Digits'");
    expect_refused("/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {{{"type", "ByteLevel"}}}}},
                   "a pre_tokenizer of type 'ByteLevel'");
    expect_refused("/decoder", nullptr, "a decoder of type 'null'");
    expect_refused("/decoder/type", "Sequence", "a decoder of type 'Sequence'");
    expect_refused("/model/unk_id", nullptr, "a Unigram model without an unk_id");
    folder_.write("tokenizer_config.json", R"({"tokenizer_class": "BigBirdTokenizer"})");
    expect_refused("/version", "1.0", "a Unigram model is not supported for the class 'BigBirdTokenizer'");
    folder_.write("tokenizer_config.json", R"({"do_lower_case": true})");
    expect_refused("/version", "1.0", "do_lower_case is true, but a Lowercase normalizer is false");
}

TEST_F(UnigramJson, ARefusalOfAClassNamesBothValues) {
    folder_.write("tokenizer_config.json", R"({"tokenizer_class": "AlbertTokenizer", "keep_accents": true})");
    expect_refused("/version", "1.0",
                   "the normalizer is NFKC, but transformers 5 uses Replace, Replace, Lowercase for the class "
                   "'AlbertTokenizer' of '");
    folder_.write("tokenizer_config.json", R"({"tokenizer_class": "XLMRobertaTokenizer"})");
    expect_refused(
        "/normalizer", nullptr,
        "the pre_tokenizer is Metaspace (always), but transformers 5 uses WhitespaceSplit, Metaspace (always)");
}

TEST_F(UnigramJson, MalformedMembers) {
    expect_bad("/model/vocab", json::object(), "expected an array of pieces and scores for 'vocab', got object");
    expect_bad("/model/vocab", json::array(), "the vocabulary is empty");
    expect_bad("/model/vocab/2", json::array({"a", "x"}), "expected a piece and its score for id 2");
    expect_bad("/model/vocab/2", json::array({"a"}), "expected a piece and its score for id 2");
    expect_bad("/model/vocab/2", json::array({"b", -1}), "token 'b' has the ids 2 and 3");
    expect_bad("/model/unk_id", 6, "expected an unk_id from 0 to 5, got 6");
    expect_bad("/model/unk_id", -1, "expected an unk_id from 0 to 5, got -1");
    expect_bad("/normalizer", {{"type", "Sequence"}}, "expected a member 'normalizers'");
    expect_bad("/normalizer", {{"type", "Sequence"}, {"normalizers", 3}}, "expected an array for 'normalizers'");
    expect_bad("/normalizer", {{"type", "Replace"}, {"content", ""}}, "expected a member 'pattern'");
    expect_bad("/normalizer", {{"type", "Replace"}, {"pattern", "a"}, {"content", ""}}, "for 'pattern' of Replace");
    expect_bad("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "x"}}, "expected base64");
    expect_bad("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "AAAA"}}, "has no size");
    expect_bad("/pre_tokenizer/replacement", "__", "expected one character for 'replacement' of Metaspace");
    expect_bad("/pre_tokenizer/replacement", nullptr, "expected one character");
    expect_bad("/pre_tokenizer/prepend_scheme", "last", "expected always, first or never for 'prepend_scheme'");
    expect_bad("/pre_tokenizer/add_prefix_space", false, "is false, but prepend_scheme is 'always'");
    expect_bad("/pre_tokenizer/split", 1, "expected true or false for 'split'");
}

TEST_F(UnigramJson, TokensThatT5sClassAddsAreInTheVocabulary) {
    json file = small_file();
    file["model"]["unk_id"] = 2;
    file["normalizer"] = nullptr;
    file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {{{"type", "WhitespaceSplit"}}, file["decoder"]}}};
    const json text = {{"Sequence", {{"id", "A"}}}}, second = {{"Sequence", {{"id", "B"}}}};
    const json end = {{"SpecialToken", {{"id", "b"}}}};
    file["post_processor"] = {
        {"type", "TemplateProcessing"}, {"single", {text, end}}, {"pair", {text, end, second, end}}};
    const auto error_with_ids = [&](const char* ids) {
        folder_.write("tokenizer.json", file.dump());
        folder_.write("tokenizer_config.json",
                      std::string(R"({"tokenizer_class": "T5Tokenizer", "eos_token": "b", "extra_ids": )") + ids + "}");
        return error_of([&] { folder_.load(); }, ErrorKind::file);
    };
    EXPECT_EQ(error_with_ids("0"), "");
    EXPECT_EQ(folder_.load()->encode_pair("a", "a"), (Ids{4, 3, 4, 3}));
    EXPECT_NE(error_with_ids("1").find("the special token '<extra_id_0>' is not in the vocabulary"), std::string::npos);
    EXPECT_NE(error_with_ids("1001").find("expected extra_ids from 0 to 1000, got 1001"), std::string::npos);
    EXPECT_NE(error_with_ids("-1").find("got -1"), std::string::npos);
}

TEST_F(UnigramJson, OlderFilesHaveAddPrefixSpace) {
    json file = small_file();
    file["pre_tokenizer"] = {
        {"type", "Metaspace"}, {"replacement", "▁"}, {"add_prefix_space", false}, {"str_rep", "▁"}};
    folder_.write("tokenizer.json", file.dump());
    EXPECT_EQ(folder_.load()->encode("b a"), (Ids{3, 4}));
    file["pre_tokenizer"]["add_prefix_space"] = true;
    folder_.write("tokenizer.json", file.dump());
    EXPECT_EQ(folder_.load()->encode("b a"), (Ids{1, 3, 4}));
    file["model"].erase("type");
    folder_.write("tokenizer.json", file.dump());
    EXPECT_EQ(folder_.load()->encode("b a"), (Ids{1, 3, 4}));
}

}  // namespace
}  // namespace cairn::text_test
