// Folders saved by transformers 5: tokenizer.json and tokenizer_config.json only. The golden results are its own.
#include "apps/text/clean_up.hpp"
#include "cairn/text/stream_decoder.hpp"
#include "tokenizer_folder.hpp"

namespace cairn::text_test {
namespace {

class Transformers5 : public testing::TestWithParam<const char*> {};

TEST_P(Transformers5, EncodesAndDecodesAsTheLibraryThatSavedIt) {
    static const nlohmann::json golden = parse_json(tests_folder() / "golden/transformers5_cases.json");
    const auto tokenizer = text::load_tokenizer(tests_folder() / "data/transformers5" / GetParam());
    const auto& cases = golden["folders"][GetParam()];
    ASSERT_GE(cases.size(), 20u);
    for (const auto& one : cases) {
        const auto text = one["text"].get<std::string>();
        const Ids ids = one["ids"].get<Ids>();
        EXPECT_EQ(tokenizer->encode(text), ids) << text;
        EXPECT_EQ(tokenizer->encode_pair(text, one["pair"][0].get<std::string>()), one["pair"][1].get<Ids>()) << text;
        EXPECT_EQ(tokenizer->decode(ids), one["decoded"].get<std::string>()) << text;
        text::StreamDecoder stream(*tokenizer);
        std::string streamed;
        for (const std::int32_t id : ids) streamed += stream.push(id);
        EXPECT_EQ(streamed + stream.finish(), one["decoded"].get<std::string>()) << text;
    }
}

INSTANTIATE_TEST_SUITE_P(Folders, Transformers5,
                         testing::Values("gpt2", "gpt2_bos", "bert", "bert_clean", "bert_plain"),
                         [](const auto& info) { return std::string(info.param); });

TEST(CleanUp, RemovesSpaces) {
    EXPECT_EQ(text::clean_up("i don ' t know , do you ? yes ! i ' m ."), "i don't know, do you? yes! i'm.");
    EXPECT_EQ(text::clean_up("a ' 'm n ' t  ."), "a''mn't .");
    EXPECT_EQ(text::clean_up(""), "");
}

/// For all texts of these characters, cleaning the stream piece by piece gives the same result as cleaning the whole
/// text.
TEST(CleanUp, OfAStreamEqualsThatOfTheText) {
    TokenizerFolder folder;
    folder.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\n'\nn\nt\n.\nm\n##t\nx\n");
    folder.write("tokenizer_config.json", R"({"clean_up_tokenization_spaces": true})");
    const auto tokenizer = folder.load();
    EXPECT_TRUE(tokenizer->cleans_up());
    std::size_t bytes_at_end = 0;
    for (int number = 0; number < 7 * 7 * 7 * 7 * 7; ++number) {
        Ids ids;
        for (int rest = number, i = 0; i < 5; ++i, rest /= 7) ids.push_back(3 + rest % 7);
        text::StreamDecoder stream(*tokenizer);
        std::string streamed;
        for (const std::int32_t id : ids) streamed += stream.push(id);
        const std::string end = stream.finish();
        bytes_at_end += end.size();
        ASSERT_EQ(streamed + end, tokenizer->decode(ids));
    }
    EXPECT_LT(bytes_at_end, 7 * 7 * 7 * 7 * 7 * 6u);  // most of the text is emitted before its end
}

}  // namespace
}  // namespace cairn::text_test
