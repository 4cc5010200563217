// RoBERTa's and Unigram tokenizers on many texts. The golden ids are those of transformers 5
// (tests/golden/tokenizer_text_cases.py).
#include "cairn/text/stream_decoder.hpp"
#include "tokenizer_folder.hpp"

#include <charconv>

namespace cairn::text_test {
namespace {

using nlohmann::json;

const json& text_cases() {
    static const json file = parse_json(tests_folder() / "golden/tokenizer_text_cases.json");
    return file;
}

std::string case_text(const json& one) {
    if (one.contains("text")) return one["text"].get<std::string>();
    const auto hex = one["hex"].get<std::string>();
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        unsigned byte = 0;
        std::from_chars(&hex[i], &hex[i] + 2, byte, 16);
        bytes += static_cast<char>(byte);
    }
    return bytes;
}

/// Random text `number` as tokenizer_text_cases.py defines it.
std::string random_text(std::uint64_t number, const std::vector<std::string>& parts) {
    std::uint64_t state = number;
    const auto draw = [&](std::uint64_t count) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>((state >> 33) % count);
    };
    std::string text;
    for (std::size_t left = draw(24); left > 0; --left) text += parts[draw(parts.size())];
    return text;
}

std::uint32_t hash_of(const Ids& ids) {
    std::uint32_t value = 2166136261u;
    for (const std::int32_t id : ids)
        for (const unsigned shift : {0u, 8u, 16u, 24u})
            value = (value ^ (static_cast<std::uint32_t>(id) >> shift & 0xFF)) * 16777619u;
    return value >> 16 ^ (value & 0xFFFF);
}

std::string streamed(const text::Tokenizer& tokenizer, const Ids& ids) {
    text::StreamDecoder stream(tokenizer);
    std::string text;
    for (const std::int32_t id : ids) text += stream.push(id);
    return text + stream.finish();
}

class TokenizerText : public testing::TestWithParam<const char*> {
protected:
    const json& folder() const { return text_cases()["folders"][GetParam()]; }
    std::unique_ptr<text::Tokenizer> load() const {
        return text::load_tokenizer(tests_folder() / "data/transformers5" / GetParam());
    }
};

TEST_P(TokenizerText, GoldenCases) {
    const auto tokenizer = load();
    const json& cases = folder()["cases"];
    ASSERT_GE(cases.size(), 70u);
    const bool keeps_bytes = tokenizer->decode(tokenizer->encode("\xFF", {.add_special = false})).ends_with('\xFF');
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const json& one = cases[i];
        const std::string text = case_text(one);
        if (keeps_bytes && !one.contains("text")) {
            // Byte-level BPE keeps ill-formed bytes, which Python has replaced.
            EXPECT_NE(tokenizer->decode(tokenizer->encode(text)).find(text), std::string::npos);
            continue;
        }
        const Ids ids = one["ids"].get<Ids>();
        ASSERT_EQ(tokenizer->encode(text), ids) << text;
        EXPECT_EQ(tokenizer->encode(text, {.add_special = false, .parse_special = false}),
                  one.value("plain", one["ids"]).get<Ids>())
            << text;
        EXPECT_EQ(tokenizer->encode(text, {.max_length = 7}), one.value("short", one["ids"]).get<Ids>()) << text;
        const auto decoded = one["decoded"].get<std::string>();
        // Of a character that lacks the tokens of some bytes the others are left.
        const bool is_broken = keeps_bytes && decoded.find("\uFFFD") != decoded.npos;
        if (!is_broken) { EXPECT_EQ(tokenizer->decode(ids), decoded) << text; }
        EXPECT_EQ(streamed(*tokenizer, ids), decoded) << text;
        const json& next = cases[(i + 1) % cases.size()];
        if (!keeps_bytes || next.contains("text")) {
            EXPECT_EQ(tokenizer->encode_pair(text, case_text(next)), one["pair"].get<Ids>()) << text;
        }
    }
}

TEST_P(TokenizerText, RandomTexts) {
    const auto tokenizer = load();
    const auto parts = text_cases()["parts"].get<std::vector<std::string>>();
    const auto hashes = folder()["random"].get<std::string>();
    ASSERT_EQ(hashes.size(), 4 * 2400u);
    for (std::size_t number = 0; number < hashes.size() / 4; ++number) {
        std::uint32_t expected = 0;
        std::from_chars(&hashes[4 * number], &hashes[4 * number] + 4, expected, 16);
        const std::string text = random_text(number, parts);
        ASSERT_EQ(hash_of(tokenizer->encode(text)), expected) << "text " << number << ": " << text;
    }
}

TEST_P(TokenizerText, HostileTexts) {
    const auto tokenizer = load();
    on_small_stack([&] {
        for (const std::string& text :
             {std::string(1 << 20, 'a'), std::string(1 << 18, ' '), repeat("\xCC\x81", 1 << 17),
              std::string(1 << 18, '\xFF'), std::string(1 << 18, '\0'), repeat("word ", 200000),
              repeat("\xE2\x98\x83", 1 << 16), repeat("\xE2\x96\x81", 1 << 16), repeat("<mask", 50000),
              repeat("[MASK] ", 40000), repeat("\xF0\x9F\x91\xA9\xE2\x80\x8D", 1 << 15)}) {
            const Ids ids = tokenizer->encode(text);
            EXPECT_LE(ids.size(), 4 * text.size());
            for (const std::int32_t id : ids) ASSERT_LT(static_cast<std::size_t>(id), tokenizer->vocabulary_size());
            tokenizer->decode(ids);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Folders, TokenizerText,
                         testing::Values("roberta", "roberta_template", "albert", "xlm_roberta", "t5", "camembert",
                                         "unigram_bytes", "unigram_first", "llama2", "llama_metaspace", "gemma",
                                         "characters", "llama3", "qwen2", "smollm"),
                         [](const auto& info) { return std::string(info.param); });

TEST(TokenizerText, RolesOfTheClasses) {
    const auto load = [](const char* folder) {
        return text::load_tokenizer(tests_folder() / "data/transformers5" / folder);
    };
    const auto roberta = load("roberta");
    EXPECT_EQ(roberta->special().bos, 0);
    EXPECT_EQ(roberta->special().cls, 0);
    EXPECT_EQ(roberta->special().pad, 1);
    EXPECT_EQ(roberta->special().eos, 2);
    EXPECT_EQ(roberta->special().sep, 2);
    EXPECT_EQ(roberta->special().unk, 3);
    EXPECT_EQ(roberta->special().mask, 599);
    EXPECT_EQ(roberta->model_max_length(), 512u);
    const auto albert = load("albert");
    EXPECT_EQ(albert->special().pad, 0);
    EXPECT_EQ(albert->special().unk, 1);
    EXPECT_EQ(albert->special().cls, 2);
    EXPECT_EQ(albert->special().bos, 2);
    EXPECT_EQ(albert->special().sep, 3);
    EXPECT_EQ(albert->special().mask, 4);
    EXPECT_EQ(albert->token(2), "[CLS]");
    EXPECT_EQ(albert->piece(*albert->id_of("▁the"), true), "the");
    EXPECT_EQ(albert->piece(*albert->id_of("▁the"), false), " the");
    const auto t5 = load("t5");
    EXPECT_EQ(t5->special().eos, 1);
    EXPECT_EQ(t5->special().unk, 2);
    EXPECT_EQ(t5->special().cls, std::nullopt);
    for (const std::int32_t id : {-1, static_cast<std::int32_t>(albert->vocabulary_size())})
        EXPECT_NE(error_of([&] { albert->decode(Ids{2, id}); }, ErrorKind::argument), "");
}

}  // namespace
}  // namespace cairn::text_test
