#include "cairn/text/stream_decoder.hpp"
#include "tokenizer_folder.hpp"

#include "apps/text/unicode.hpp"

#include <random>

namespace cairn::text_test {
namespace {

using text::StreamDecoder;

const std::string replacement = "\uFFFD";

/// The ids of single bytes: the worst case of a stream.
Ids byte_ids(std::string_view bytes) {
    Ids ids;
    for (const char byte : bytes) ids.push_back(gpt2().encode(std::string(1, byte)).front());
    return ids;
}

std::vector<std::string> stream(const text::Tokenizer& tokenizer, const Ids& ids) {
    StreamDecoder decoder(tokenizer);
    std::vector<std::string> parts;
    for (const auto id : ids) parts.push_back(decoder.push(id));
    parts.push_back(decoder.finish());
    return parts;
}

using Parts = std::vector<std::string>;

TEST(StreamDecoder, ACharacterIsReturnedComplete) {
    EXPECT_EQ(stream(gpt2(), byte_ids("a😀é")), (Parts{"a", "", "", "", "😀", "", "é", ""}));
}

TEST(StreamDecoder, AnIncompleteEndIsReplaced) {
    EXPECT_EQ(stream(gpt2(), byte_ids("x\xF0\x9F\x98")), (Parts{"x", "", "", "", replacement}));
    EXPECT_EQ(stream(gpt2(), {}), (Parts{""}));
}

TEST(StreamDecoder, IllFormedBytesAreReplacedAtOnce) {
    EXPECT_EQ(stream(gpt2(), byte_ids("\xFF\xC3z")), (Parts{replacement, "", replacement + "z", ""}));
    EXPECT_EQ(stream(gpt2(), byte_ids("\xE2\x82\xE2\x82\xAC")), (Parts{"", "", replacement, "", "€", ""}));
    EXPECT_EQ(stream(gpt2(), byte_ids("\xED\xA0\x80")), (Parts{"", replacement + replacement, replacement, ""}));
}

TEST(StreamDecoder, RestartsAfterFinish) {
    StreamDecoder decoder(bert());
    EXPECT_EQ(decoder.push(2028), "one");
    EXPECT_EQ(decoder.push(2075), "ing");
    EXPECT_EQ(decoder.push(2048), " two");
    EXPECT_EQ(decoder.finish(), "");
    EXPECT_EQ(decoder.push(2048), "two");
}

TEST(StreamDecoder, AnUnknownIdChangesNothing) {
    StreamDecoder decoder(gpt2());
    EXPECT_EQ(decoder.push(byte_ids("\xC3").front()), "");
    EXPECT_NE(error_of([&] { decoder.push(50257); }, ErrorKind::argument), "");
    EXPECT_EQ(decoder.push(byte_ids("\xA9").front()), "é");
}

TEST(StreamDecoder, RandomIdsGiveValidTextEqualToTheWhole) {
    std::mt19937 random(5);
    for (int round = 0; round < 1000; ++round) {
        Ids ids;
        for (auto length = random() % 30; length > 0; --length)
            ids.push_back(static_cast<std::int32_t>(random() % (round % 2 ? 50257 : 256)));
        std::string expected;
        const std::string bytes = gpt2().decode(ids);
        for (std::string_view rest = bytes; !rest.empty();) {
            const auto step = text::read_utf8(rest);
            text::append_utf8(expected, step.code);
            rest.remove_prefix(step.length);
        }
        std::string whole;
        for (const std::string& part : stream(gpt2(), ids)) whole += part;
        ASSERT_EQ(whole, expected);
    }
}

}  // namespace
}  // namespace cairn::text_test
