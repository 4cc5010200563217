#include "tokenizer_folder.hpp"

#include <random>

namespace cairn::text_test {
namespace {

TEST(ByteLevelBpe, GoldenCases) {
    const auto cases = parse_json(tests_folder() / "golden/gpt2_tokenizer_cases.json")["cases"];
    ASSERT_EQ(cases.size(), 362u);
    for (const auto& one : cases) {
        const auto text = one["text"].get<std::string>();
        const auto ids = gpt2().encode(text);
        EXPECT_EQ(ids, one["ids"].get<Ids>()) << one["text"];
        EXPECT_EQ(gpt2().decode(ids), one["decoded"].get<std::string>());
        EXPECT_EQ(gpt2().decode(ids), text);
    }
}

TEST(ByteLevelBpe, AnyBytesRoundTrip) {
    std::mt19937 random(11);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes;
        for (auto length = random() % 40; length > 0; --length) bytes += static_cast<char>(random());
        ASSERT_EQ(gpt2().decode(gpt2().encode(bytes)), bytes);
    }
    for (int byte = 0; byte < 256; ++byte) EXPECT_EQ(gpt2().encode(std::string(1, static_cast<char>(byte))).size(), 1u);
}

TEST(ByteLevelBpe, VocabularyAndRoles) {
    EXPECT_EQ(gpt2().vocabulary_size(), 50257u);
    EXPECT_EQ(gpt2().id_of("Ġthe"), 262);
    EXPECT_EQ(gpt2().id_of("no such token"), std::nullopt);
    EXPECT_EQ(gpt2().token(262), "Ġthe");
    EXPECT_EQ(gpt2().special().eos, 50256);
    EXPECT_EQ(gpt2().special().bos, 50256);
    EXPECT_EQ(gpt2().special().pad, std::nullopt);
    EXPECT_EQ(gpt2().model_max_length(), std::nullopt);
}

TEST(ByteLevelBpe, SpecialTokensInTheText) {
    EXPECT_EQ(gpt2().encode("a<|endoftext|>b"), (Ids{64, 50256, 65}));
    const Ids plain = gpt2().encode("a<|endoftext|>b", {.parse_special = false});
    EXPECT_EQ(std::count(plain.begin(), plain.end(), 50256), 0);
    EXPECT_EQ(gpt2().decode(plain), "a<|endoftext|>b");
}

TEST(ByteLevelBpe, LengthAndPairs) {
    EXPECT_EQ(gpt2().encode("a b c", {.max_length = 2}), (Ids{64, 275}));
    EXPECT_EQ(gpt2().encode("a b c", {.max_length = 9}), (Ids{64, 275, 269}));
    EXPECT_EQ(gpt2().encode_pair("a b c", "d"), (Ids{64, 275, 269, 67}));
    EXPECT_EQ(gpt2().encode_pair("a b c", "d", {.max_length = 3}), (Ids{64, 275, 67}));
}

TEST(ByteLevelBpe, IdsOutsideTheVocabulary) {
    for (const std::int32_t id : {-1, 50257}) {
        const std::string expected = "[tokenizer] expected an id from 0 to 50256, got " + std::to_string(id);
        EXPECT_EQ(error_of([&] { gpt2().decode(Ids{64, id}); }, ErrorKind::argument), expected);
        EXPECT_EQ(error_of([&] { gpt2().token(id); }, ErrorKind::argument), expected);
    }
}

TEST(ByteLevelBpe, HostileTexts) {
    on_small_stack([] {
        for (const std::string& text :
             {std::string(1 << 20, 'a'), std::string(1 << 20, ' '), repeat("\xCC\x81", 1 << 19),
              std::string(1 << 20, '\xFF'), std::string(1 << 20, '\0'), repeat("word ", 100000),
              repeat("<|endoftext|", 80000), repeat("<|endoftext|>", 80000)}) {
            const Ids ids = gpt2().encode(text);
            EXPECT_LE(ids.size(), text.size());
            EXPECT_EQ(gpt2().decode(ids), text);
        }
    });
}

TEST(ByteLevelBpe, MergesFileWithAndWithoutVersionLine) {
    TokenizerFolder folder;
    folder.write("vocab.json", small_bpe_vocabulary({"he", "ll", "hell", "##"}).dump());
    folder.write("merges.txt", "#version: 0.2\nh e\nl l\nhe ll\n# #\n\n");
    EXPECT_EQ(folder.load()->encode("hell##"), (Ids{258, 259}));
    folder.write("merges.txt", "h e\r\nl l\r\nhe ll\r\n# #");
    EXPECT_EQ(folder.load()->encode("hell##"), (Ids{258, 259}));
}

TEST(ByteLevelBpe, ConfigNamesRolesAndAddsTokens) {
    TokenizerFolder folder;
    folder.write("vocab.json", small_bpe_vocabulary({"he"}).dump()).write("merges.txt", "h e\n");
    folder.write("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer", "eos_token": {"content": "<eos>"},
        "pad_token": "<pad>", "unk_token": null, "add_prefix_space": true, "model_max_length": 77,
        "added_tokens_decoder":
        {"257": {"content": "<eos>", "special": true}, "258": {"content": "<pad>", "rstrip": true},
         "259": {"content": "<extra>"}}})");
    const auto tokenizer = folder.load();
    EXPECT_EQ(tokenizer->vocabulary_size(), 260u);
    EXPECT_EQ(tokenizer->special().eos, 257);
    EXPECT_EQ(tokenizer->special().pad, 258);
    EXPECT_EQ(tokenizer->special().bos, std::nullopt);
    EXPECT_EQ(tokenizer->model_max_length(), 77u);
    EXPECT_EQ(tokenizer->encode("he<eos><pad> \n<extra>"), (Ids{220, 256, 257, 258, 259}));
}

TEST(ByteLevelBpe, ATokenWithoutByteEncodingDecodesUnchanged) {
    TokenizerFolder folder;
    folder.write("vocab.json", small_bpe_vocabulary({"<中>"}).dump()).write("merges.txt", "");
    EXPECT_EQ(folder.load()->decode(Ids{256, 64}), "<中>a");
}

TEST(ByteLevelBpe, TokenizerJson) {
    nlohmann::json file = {
        {"model",
         {{"type", "BPE"}, {"vocab", small_bpe_vocabulary({"he", "ll", "hell"})}, {"merges", {"h e", "l l", "he ll"}}}},
        {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
        {"post_processor", {{"type", "ByteLevel"}}},
        {"added_tokens",
         {{{"id", 259}, {"content", "<|endoftext|>"}, {"special", true}},
          {{"id", 260}, {"content", "<mask>"}, {"special", true}, {"lstrip", true}},
          {{"id", 261}, {"content", "hello"}, {"special", false}}}}};
    TokenizerFolder folder;
    folder.write("tokenizer.json", file.dump());
    const auto tokenizer = folder.load();
    EXPECT_EQ(tokenizer->vocabulary_size(), 262u);
    EXPECT_EQ(tokenizer->special().eos, 259);
    EXPECT_EQ(tokenizer->encode("hell<|endoftext|>x \u3000<mask>"), (Ids{258, 259, 87, 260}));
    EXPECT_EQ(tokenizer->encode("hello"), (Ids{261}));
    EXPECT_EQ(tokenizer->encode("hello<mask>", {.parse_special = false}).front(), 261);
    EXPECT_EQ(tokenizer->decode(Ids{258, 259, 87, 260}), "hell<|endoftext|>x<mask>");

    file["model"]["merges"] =
        nlohmann::json::parse(R"([["h", "e"], ["l", "l"], ["he", "ll"]])");  // as written since 2024
    file["pre_tokenizer"].erase("add_prefix_space");                         // on unless switched off
    folder.write("tokenizer.json", file.dump());
    EXPECT_EQ(folder.load()->encode("hell"), (Ids{220, 258}));
    EXPECT_EQ(folder.load()->encode(" hell"), (Ids{220, 258}));
    EXPECT_EQ(folder.load()->encode(""), Ids{});
}

}  // namespace
}  // namespace cairn::text_test
