#include "tokenizer_folder.hpp"

namespace cairn::text_test {
namespace {

constexpr std::int32_t unk = 100, cls = 101, sep = 102, mask = 103;

TEST(WordPiece, GoldenCases) {
    const auto cases = parse_json(tests_folder() / "golden/bert_tokenizer_cases.json")["cases"];
    ASSERT_EQ(cases.size(), 362u);
    for (const auto& one : cases) {
        const auto ids = bert().encode(one["text"].get<std::string>());
        EXPECT_EQ(ids, one["ids"].get<Ids>()) << one["text"];
        std::vector<std::string> tokens;
        for (const auto id : ids) tokens.push_back(bert().token(id));
        EXPECT_EQ(tokens, one["tokens"].get<std::vector<std::string>>());
    }
}

TEST(WordPiece, VocabularyAndRoles) {
    EXPECT_EQ(bert().vocabulary_size(), 30522u);
    EXPECT_EQ(bert().special().pad, 0);
    EXPECT_EQ(bert().special().unk, unk);
    EXPECT_EQ(bert().special().cls, cls);
    EXPECT_EQ(bert().special().sep, sep);
    EXPECT_EQ(bert().special().mask, mask);
    EXPECT_EQ(bert().special().eos, std::nullopt);
    EXPECT_EQ(bert().id_of("##ing"), 2075);
}

TEST(WordPiece, SpecialTokens) {
    EXPECT_EQ(bert().encode("a [MASK]", {.add_special = false}), (Ids{1037, mask}));
    EXPECT_EQ(bert().encode("[mask]", {.add_special = false}).size(), 3u);  // only with its exact case
    EXPECT_EQ(bert().encode("[MASK]", {.parse_special = false}), (Ids{cls, 1031, 7308, 1033, sep}));
}

TEST(WordPiece, MaxLengthKeepsSep) {
    EXPECT_EQ(bert().encode("one two three", {.max_length = 4}), (Ids{cls, 2028, 2048, sep}));
    EXPECT_EQ(bert().encode("one two three", {.max_length = 5}), (Ids{cls, 2028, 2048, 2093, sep}));
    EXPECT_EQ(bert().encode("one two three", {.max_length = 2}), (Ids{cls, sep}));
    EXPECT_EQ(bert().encode("one two", {.add_special = false, .max_length = 1}), (Ids{2028}));
    EXPECT_EQ(error_of([] { bert().encode("one", {.max_length = 1}); }, ErrorKind::argument),
              "[tokenizer] expected a max_length of at least 2, the number of special tokens added, got 1");
    EXPECT_NE(error_of([] { bert().encode_pair("one", "two", {.max_length = 2}); }, ErrorKind::argument), "");
}

/// Expected ids from Hugging Face tokenizers 0.23, truncation `longest_first`.
TEST(WordPiece, PairsShareTheMaximumLength) {
    const std::string five = "one two three four five", nine = "six seven eight nine ten red blue green black";
    const auto pair = [](std::string_view a, std::string_view b, std::size_t most) {
        return bert().encode_pair(a, b, {.max_length = most});
    };
    EXPECT_EQ(bert().encode_pair("one", "two"), (Ids{cls, 2028, sep, 2048, sep}));
    EXPECT_EQ(pair(five, nine, 3), (Ids{cls, sep, sep}));
    EXPECT_EQ(pair(five, nine, 4), (Ids{cls, sep, 2416, sep}));
    EXPECT_EQ(pair(nine, five, 4), (Ids{cls, 2416, sep, sep}));
    EXPECT_EQ(pair(five, nine, 8), (Ids{cls, 2028, 2048, sep, 2416, 2698, 2809, sep}));
    EXPECT_EQ(pair(nine, five, 8), (Ids{cls, 2416, 2698, 2809, sep, 2028, 2048, sep}));
    EXPECT_EQ(pair("one two", nine, 9), (Ids{cls, 2028, 2048, sep, 2416, 2698, 2809, 3157, sep}));
    EXPECT_EQ(pair(nine, "one two", 9), (Ids{cls, 2416, 2698, 2809, 3157, sep, 2028, 2048, sep}));
    EXPECT_EQ(pair(five, five, 8), (Ids{cls, 2028, 2048, sep, 2028, 2048, 2093, sep}));
    EXPECT_EQ(pair(five, five, 13), bert().encode_pair(five, five));
}

TEST(WordPiece, DecodeMergesPieces) {
    EXPECT_EQ(bert().decode(bert().encode("unaffable, Zürich!", {.add_special = false})), "unaffable, zurich!");
    EXPECT_EQ(bert().decode(Ids{}), "");
    EXPECT_EQ(bert().decode(Ids{2075}), "##ing");
    EXPECT_NE(error_of([] { bert().decode(Ids{30522}); }, ErrorKind::argument), "");
}

TEST(WordPiece, IllFormedBytesAreDropped) {
    EXPECT_EQ(bert().encode("o\xFFn\xC3"
                            "e"),
              (Ids{cls, 2028, sep}));
    EXPECT_EQ(bert().encode("\xED\xA0\x80"), (Ids{cls, sep}));
}

TEST(WordPiece, AWordOfMoreThan100CharactersIsUnknown) {
    const Ids known = bert().encode(std::string(100, 'a'), {.add_special = false});
    EXPECT_GT(known.size(), 1u);
    EXPECT_EQ(bert().encode(std::string(101, 'a'), {.add_special = false}), Ids{unk});
    EXPECT_EQ(bert().encode(repeat("\u0430", 100), {.add_special = false}).size(), 100u);  // characters, not bytes
    EXPECT_EQ(bert().encode(repeat("\u0430", 101), {.add_special = false}), Ids{unk});
}

TEST(WordPiece, HostileTexts) {
    on_small_stack([] {
        const auto count = [](const std::string& text) { return bert().encode(text, {.add_special = false}).size(); };
        EXPECT_EQ(count(std::string(1 << 20, 'a')), 1u);
        EXPECT_EQ(count(std::string(1 << 20, ' ')), 0u);
        EXPECT_EQ(count(repeat("\xCC\x81\xCC\xA3", 1 << 18)), 0u);
        EXPECT_EQ(count(std::string(1 << 20, '!')), std::size_t{1} << 20);
        EXPECT_EQ(count(repeat("word ", 100000)), 100000u);
        EXPECT_EQ(count(repeat(std::string(99, 'q') + "\u0378 ", 10000)), 10000u);  // fails at the last character
        EXPECT_EQ(count(repeat("[MASK", 200000)), 400000u);
        EXPECT_EQ(count(repeat("[MASK]", 200000)), 200000u);
    });
}

const char* const small_vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nA\na\nÉ\n##é\ne\n##b\n中\n##中\n";

TEST(WordPiece, ConfigSwitches) {
    TokenizerFolder folder;
    folder.write("vocab.txt", small_vocabulary);
    const auto ids = [&](const std::string& config, std::string_view text) {
        folder.write("tokenizer_config.json", config);
        return folder.load()->encode(text, {.add_special = false});
    };
    EXPECT_EQ(ids("{}", "A É a中"), (Ids{6, 9, 6, 11}));
    EXPECT_EQ(ids(R"({"do_lower_case": false})", "A É a"), (Ids{5, 7, 6}));
    EXPECT_EQ(ids(R"({"do_lower_case": true, "strip_accents": false})", "Aé"), (Ids{6, 8}));
    EXPECT_EQ(ids(R"({"do_lower_case": false, "strip_accents": true})", "A é"), (Ids{5, 9}));
    EXPECT_EQ(ids(R"({"tokenize_chinese_chars": false, "strip_accents": null})", "a中"), (Ids{6, 12}));
    folder.write("tokenizer_config.json", R"({"tokenizer_class": "DistilBertTokenizerFast", "cls_token": "A",
        "sep_token": {"content": "a", "lstrip": false}, "model_max_length": 1000000000000000019884624838656})");
    EXPECT_EQ(folder.load()->encode("中"), (Ids{5, 11, 6}));
    EXPECT_EQ(folder.load()->model_max_length(), std::nullopt);
}

nlohmann::json small_tokenizer_json() {
    const auto piece = [](const char* kind, const char* id) {
        return nlohmann::json{{kind, {{"id", id}, {"type_id", 0}}}};
    };
    const auto first = piece("SpecialToken", "[CLS]"), last = piece("SpecialToken", "[SEP]");
    const auto a = piece("Sequence", "A"), b = piece("Sequence", "B");
    return {{"model",
             {{"type", "WordPiece"},
              {"unk_token", "[UNK]"},
              {"continuing_subword_prefix", "@@"},
              {"max_input_chars_per_word", 5},
              {"vocab", {{"[UNK]", 0}, {"[CLS]", 1}, {"[SEP]", 2}, {"a", 3}, {"@@b", 4}, {"zz", 5}}}}},
            {"normalizer", {{"type", "BertNormalizer"}, {"lowercase", true}, {"strip_accents", nullptr}}},
            {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
            {"post_processor",
             {{"type", "TemplateProcessing"}, {"single", {first, a, last}}, {"pair", {first, a, last, b, last}}}},
            {"added_tokens",
             {{{"id", 1}, {"content", "[CLS]"}, {"special", true}},
              {{"id", 6}, {"content", "NÉW"}, {"normalized", true}}}}};
}

TEST(WordPiece, TokenizerJson) {
    nlohmann::json file = small_tokenizer_json();
    TokenizerFolder folder;
    folder.write("tokenizer.json", file.dump());
    auto tokenizer = folder.load();
    EXPECT_EQ(tokenizer->encode("AB abbbb abbbbb zz"), (Ids{1, 3, 4, 3, 4, 4, 4, 4, 0, 5, 2}));
    EXPECT_EQ(tokenizer->encode_pair("a", "zz"), (Ids{1, 3, 2, 5, 2}));
    EXPECT_EQ(tokenizer->encode("a new zz[CLS]"), (Ids{1, 3, 6, 5, 1, 2}));  // "NÉW" is matched as "new"
    EXPECT_EQ(tokenizer->decode(Ids{3, 4, 5}), "ab zz");
    EXPECT_EQ(tokenizer->special().pad, std::nullopt);

    file["post_processor"] = {{"type", "BertProcessing"}, {"cls", {"[CLS]", 1}}, {"sep", {"[SEP]", 2}}};
    folder.write("tokenizer.json", file.dump());
    EXPECT_EQ(folder.load()->encode("a"), (Ids{1, 3, 2}));
    file["post_processor"] = nullptr;
    folder.write("tokenizer.json", file.dump());
    EXPECT_EQ(folder.load()->encode("a"), (Ids{3}));
}

TEST(WordPiece, TokenizerJsonOfAnotherShape) {
    TokenizerFolder folder;
    const auto refusal = [&](const std::function<void(nlohmann::json&)>& change) {
        nlohmann::json file = small_tokenizer_json();
        change(file);
        folder.write("tokenizer.json", file.dump());
        return error_of([&] { folder.load(); }, ErrorKind::unsupported);
    };
    const auto holds = [](const std::string& text, const char* part) { return text.find(part) != text.npos; };
    EXPECT_PRED2(holds, refusal([](auto& file) { file["normalizer"] = nullptr; }), "a normalizer of type 'null'");
    EXPECT_PRED2(holds, refusal([](auto& file) { file["pre_tokenizer"]["type"] = "Metaspace"; }), "'Metaspace'");
    EXPECT_PRED2(holds, refusal([](auto& file) { file["post_processor"]["pair"].erase(1); }),
                 "a template 'pair' in which the texts are not A then B");
    EXPECT_PRED2(holds, refusal([](auto& file) { file["post_processor"]["single"].erase(1); }),
                 "a template 'single' that leaves a text out");
    EXPECT_PRED2(holds, refusal([](auto& file) {
                     file["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}};
                 }),
                 "a prefix other than the model's");
    EXPECT_PRED2(holds, refusal([](auto& file) { file["model"]["type"] = "WordLevel"; }), "'WordLevel'");
}

}  // namespace
}  // namespace cairn::text_test
