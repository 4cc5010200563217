#include "cairn/text/gguf_vocabulary.hpp"
#include "tokenizer_folder.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

// A SentencePiece BPE as a GGUF file has it, beside the library that trained it.
namespace cairn::text_test {
namespace {

using text::GgufVocabulary;
using text::make_tokenizer;
using Ids = std::vector<std::int32_t>;

const nlohmann::json& sentence_piece() {
    static const nlohmann::json json = parse_json(tests_folder() / "golden/sentence_piece_cases.json");
    return json;
}

GgufVocabulary sentence_piece_vocabulary() {
    GgufVocabulary vocabulary{.source = "m.gguf", .model = "llama"};
    vocabulary.tokens = sentence_piece()["tokens"].get<std::vector<std::string>>();
    vocabulary.scores = sentence_piece()["scores"].get<std::vector<double>>();
    vocabulary.types = sentence_piece()["types"].get<std::vector<std::int64_t>>();
    vocabulary.unk = 0, vocabulary.bos = 1, vocabulary.eos = 2;
    return vocabulary;
}

TEST(ScoreBpe, GivesTheIdsOfTheLibrary) {
    const auto tokenizer = make_tokenizer(sentence_piece_vocabulary());
    ASSERT_GT(sentence_piece()["cases"].size(), 500U);
    for (const auto& one : sentence_piece()["cases"]) {
        const Ids expected = one["ids"].get<Ids>();
        const std::string text = one["text"].get<std::string>();
        EXPECT_EQ(tokenizer->encode(text, {.add_special = false, .parse_special = false}), expected) << one["text"];
        EXPECT_EQ(tokenizer->decode(expected), one["decoded"].get<std::string>()) << one["text"];
    }
}

TEST(ScoreBpe, SpecialTokensStandAroundAndInTexts) {
    const auto tokenizer = make_tokenizer(sentence_piece_vocabulary());
    const Ids plain = tokenizer->encode("graph", {.add_special = false});
    Ids with_bos = plain;
    with_bos.insert(with_bos.begin(), 1);
    EXPECT_EQ(tokenizer->encode("graph"), with_bos);
    Ids expected = plain;  // a text that follows a special token begins with a space, too
    expected.push_back(2);
    expected.insert(expected.end(), plain.begin(), plain.end());
    EXPECT_EQ(tokenizer->encode("graph</s>graph", {.add_special = false}), expected);
    EXPECT_EQ(tokenizer->decode(Ids{1, 2}), "<s></s>");
    EXPECT_EQ(tokenizer->encode("graph", {.max_length = 2}).size(), 2U);
    GgufVocabulary gemma = sentence_piece_vocabulary();
    gemma.add_space_prefix = false;
    gemma.add_bos = false;
    gemma.add_eos = true;
    const auto without = make_tokenizer(gemma);
    EXPECT_EQ(without->decode(without->encode(" graph")), " graph</s>");
    EXPECT_NE(without->encode("graph"), without->encode(" graph"));
}

TEST(ScoreBpe, TakesLongTextsAndAnyBytes) {
    const auto tokenizer = make_tokenizer(sentence_piece_vocabulary());
    std::string text;
    for (int i = 0; i < 40'000; ++i) text += i % 7 == 0 ? " graphs" : "xy\xFF";
    EXPECT_TRUE(tokenizer->decode(tokenizer->encode(text, {.add_special = false})) == text);
    const std::string one(200'000, 'a');
    EXPECT_TRUE(tokenizer->decode(tokenizer->encode(one, {.add_special = false})) == one);
}

TEST(ScoreBpe, WhatIsWrongIsSaid) {
    const auto fault = [](const std::string& what, const std::function<void(GgufVocabulary&)>& damage) {
        GgufVocabulary vocabulary = sentence_piece_vocabulary();
        damage(vocabulary);
        EXPECT_THAT(error_of([&] { make_tokenizer(vocabulary); }, ErrorKind::file), testing::HasSubstr(what));
    };
    fault("700 tokens have 699 scores (m.gguf)", [](GgufVocabulary& v) { v.scores.pop_back(); });
    fault("a score is not a number", [](GgufVocabulary& v) { v.scores[9] = std::nan(""); });
    fault("expected a byte as <0x0A>, got '<0xZZ>'", [](GgufVocabulary& v) { v.tokens[13] = "<0xZZ>"; });
    fault("some bytes have no token, and there is no unknown token", [](GgufVocabulary& v) {
        v.types[13] = 1;
        v.unk.reset();
    });
    fault("add_bos_token needs a bos_token", [](GgufVocabulary& v) {
        v.bos.reset();
        v.add_bos = true;
    });
}

}  // namespace
}  // namespace cairn::text_test
