#include "cairn/text/gguf_vocabulary.hpp"
#include "tokenizer_folder.hpp"

#include <gmock/gmock.h>

// Tokenizers of GGUF files, made of the full vocabularies as llama.cpp's converter writes them.
namespace cairn::text_test {
namespace {

using text::GgufVocabulary;

constexpr std::int64_t normal = 1, control = 3, user_defined = 4;

GgufVocabulary gpt2_vocabulary() {
    GgufVocabulary vocabulary{.source = "m.gguf", .model = "gpt2", .pre = "gpt-2"};
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(gpt2().vocabulary_size()); ++id) {
        vocabulary.tokens.push_back(gpt2().token(id));
        vocabulary.types.push_back(vocabulary.tokens.back() == "<|endoftext|>" ? control : normal);
    }
    std::ifstream merges(tests_folder() / "data/gpt2/merges.txt");
    for (std::string line; std::getline(merges, line);)
        if (!line.empty() && !line.starts_with("#version")) vocabulary.merges.push_back(line);
    vocabulary.bos = vocabulary.eos = 50256;
    return vocabulary;
}

// In front of a token that begins a word is U+2581, and nothing in front of one that continues it.
GgufVocabulary bert_vocabulary() {
    GgufVocabulary vocabulary{.source = "m.gguf", .model = "bert"};
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(bert().vocabulary_size()); ++id) {
        const std::string& token = bert().token(id);
        const bool is_special =
            token == "[PAD]" || token == "[UNK]" || token == "[CLS]" || token == "[SEP]" || token == "[MASK]";
        vocabulary.types.push_back(is_special ? control : normal);
        vocabulary.tokens.push_back(is_special ? token : token.starts_with("##") ? token.substr(2) : "\u2581" + token);
    }
    vocabulary.unk = 100, vocabulary.cls = 101, vocabulary.sep = 102, vocabulary.mask = 103, vocabulary.pad = 0;
    return vocabulary;
}

TEST(GgufTokenizers, Gpt2GivesTheIdsOfItsFiles) {
    const auto tokenizer = make_tokenizer(gpt2_vocabulary());
    const auto golden = parse_json(tests_folder() / "golden/gpt2_tokenizer_cases.json");
    for (const auto& one : golden["cases"]) {
        const auto ids = tokenizer->encode(one["text"].get<std::string>());
        EXPECT_EQ(ids, one["ids"].get<Ids>()) << one["text"];
        EXPECT_EQ(tokenizer->decode(ids), one["decoded"].get<std::string>());
    }
    EXPECT_EQ(tokenizer->special().eos, 50256);
    EXPECT_EQ(tokenizer->encode("a<|endoftext|>b"), (Ids{64, 50256, 65}));
    EXPECT_EQ(tokenizer->encode("<|endoftext|>", {.parse_special = false}).size(), 7U);
}

TEST(GgufTokenizers, AByteWithoutATokenIsLeftOut) {
    GgufVocabulary vocabulary = gpt2_vocabulary();
    vocabulary.tokens[37] = "[lacks F]";  // was `F`
    std::erase_if(vocabulary.merges, [](const std::string& merge) { return merge.find('F') != merge.npos; });
    const auto tokenizer = make_tokenizer(vocabulary);
    EXPECT_EQ(tokenizer->encode("aFb"), (Ids{64, 65}));
    EXPECT_EQ(tokenizer->encode("F").size(), 0U);
}

TEST(GgufTokenizers, Llama3TakesWordsThatAreTokensWithoutMerging) {
    GgufVocabulary vocabulary = gpt2_vocabulary();
    vocabulary.pre = "llama-bpe";
    vocabulary.merges.clear();
    EXPECT_EQ(make_tokenizer(vocabulary)->encode("the"), (Ids{50256, 1169}))
        << "begins with bos if nothing else is said";
    vocabulary.add_bos = false;
    const auto tokenizer = make_tokenizer(vocabulary);
    EXPECT_EQ(tokenizer->encode("the"), (Ids{1169})) << "a token";
    EXPECT_EQ(tokenizer->encode("thx").size(), 3U) << "no token, and nothing merges";
    vocabulary.pre = "qwen2";
    EXPECT_EQ(make_tokenizer(vocabulary)->encode("the").size(), 3U);
}

TEST(GgufTokenizers, BertGivesTheIdsOfItsFiles) {
    const auto tokenizer = make_tokenizer(bert_vocabulary());
    const auto golden = parse_json(tests_folder() / "golden/bert_tokenizer_cases.json");
    for (const auto& one : golden["cases"])
        EXPECT_EQ(tokenizer->encode(one["text"].get<std::string>()), one["ids"].get<Ids>()) << one["text"];
    EXPECT_EQ(tokenizer->special().cls, 101);
    EXPECT_EQ(tokenizer->id_of("##ing"), 2075);
    EXPECT_EQ(tokenizer->encode("a [MASK]", {.add_special = false}), (Ids{1037, 103}));
}

TEST(GgufTokenizers, RolesAreFoundByNameWithoutIds) {
    GgufVocabulary vocabulary = bert_vocabulary();
    vocabulary.unk.reset(), vocabulary.cls.reset(), vocabulary.sep.reset(), vocabulary.mask.reset();
    vocabulary.types.clear();
    EXPECT_EQ(make_tokenizer(vocabulary)->encode("one two"), (Ids{101, 2028, 2048, 102}));
    vocabulary.bos = 101, vocabulary.eos = 102;
    EXPECT_EQ(make_tokenizer(vocabulary)->encode("one two"), (Ids{101, 2028, 2048, 102}));
}

TEST(GgufTokenizers, BeginningAndEndAreAddedIfAskedFor) {
    GgufVocabulary vocabulary = gpt2_vocabulary();
    vocabulary.add_bos = vocabulary.add_eos = true;
    const auto tokenizer = make_tokenizer(vocabulary);
    EXPECT_EQ(tokenizer->encode("a"), (Ids{50256, 64, 50256}));
    EXPECT_EQ(tokenizer->encode("a", {.add_special = false}), (Ids{64}));
    EXPECT_EQ(tokenizer->encode_pair("a", "b"), (Ids{50256, 64, 50256, 50256, 65, 50256}));
}

TEST(GgufTokenizers, UserDefinedTokensAreFoundInPlainText) {
    GgufVocabulary vocabulary = gpt2_vocabulary();
    vocabulary.tokens.emplace_back("<tool>"), vocabulary.types.push_back(user_defined);
    const auto tokenizer = make_tokenizer(vocabulary);
    EXPECT_EQ(tokenizer->encode("a<tool>b", {.parse_special = false}), (Ids{64, 50257, 65}));
}

TEST(GgufTokenizers, WhatIsWrongIsSaid) {
    const auto fault = [](ErrorKind kind, const std::string& text, const std::function<void(GgufVocabulary&)>& damage) {
        GgufVocabulary vocabulary = gpt2_vocabulary();
        damage(vocabulary);
        EXPECT_THAT(error_of([&] { make_tokenizer(vocabulary); }, kind), testing::HasSubstr(text));
    };
    fault(ErrorKind::unsupported,
          "a tokenizer of the model 't5' is not supported; supported are gpt2, bert, llama and gemma4",
          [](GgufVocabulary& v) { v.model = "t5"; });
    fault(ErrorKind::unsupported, "text that is split as 'poro-chat' is not supported (m.gguf)",
          [](GgufVocabulary& v) { v.pre = "poro-chat"; });
    fault(ErrorKind::file, "there are no tokens (m.gguf)", [](GgufVocabulary& v) { v.tokens.clear(); });
    fault(ErrorKind::file, "50257 tokens have 50256 types", [](GgufVocabulary& v) { v.types.pop_back(); });
    fault(ErrorKind::file, "the eos_token has the id 50257, but there are 50257 tokens",
          [](GgufVocabulary& v) { v.eos = 50257; });
    fault(ErrorKind::file, "the bos_token has the id -1", [](GgufVocabulary& v) { v.bos = -1; });
    fault(ErrorKind::file, "expected a merge of two tokens separated by a space, got 'abc'",
          [](GgufVocabulary& v) { v.merges[7] = "abc"; });
    fault(ErrorKind::file, "", [](GgufVocabulary& v) { v.tokens[300] = v.tokens[301]; });
    fault(ErrorKind::file, "add_bos_token needs a bos_token",
          [](GgufVocabulary& v) { v.add_bos = true, v.bos.reset(); });
}

}  // namespace
}  // namespace cairn::text_test
