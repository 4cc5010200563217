#include "io/weights/safetensors_header.hpp"

#include <gmock/gmock.h>

#include <random>

#include "test_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace cairn {
namespace {

using test::safetensors_bytes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

weights::SafetensorsHeader parse(const std::string& bytes) {
    return weights::parse_safetensors_header(std::as_bytes(std::span(bytes)), "x.safetensors");
}

auto header_refused(const std::string& what) {
    return Throws<Error>(AllOf(Property(&Error::kind, ErrorKind::file),
                               Property(&Error::what, HasSubstr("[safetensors] x.safetensors: ")),
                               Property(&Error::what, HasSubstr(what))));
}

std::string one(const std::string& fields, std::size_t bytes = 0) {
    return safetensors_bytes(R"({"a":{)" + fields + "}}", std::string(bytes, '\1'));
}

TEST(SafetensorsHeader, ValidHeadersAreRead) {
    const auto header = parse(safetensors_bytes(
        R"({"__metadata__":{"format":"pt","x":""},"z":{"dtype":"F32","shape":[2,3],"data_offsets":[2,26]},)"
        R"("h\u00e9":{"data_offsets":[0,2],"shape":[],"dtype":"BF16"},"e":{"dtype":"I64","shape":[0,9223372036854775807],)"
        R"("data_offsets":[26,26]}}   )",
        std::string(26, '\1')));
    ASSERT_EQ(header.tensors.size(), 3u);
    EXPECT_EQ(header.tensors[0].name, "h\xc3\xa9");
    EXPECT_EQ(header.tensors[0].dtype->dtype, DType::bf16);
    EXPECT_TRUE(header.tensors[0].shape.empty());
    EXPECT_EQ(header.tensors[1].name, "z");
    EXPECT_EQ(header.tensors[1].shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(header.tensors[1].end - header.tensors[1].begin, 24u);
    EXPECT_EQ(header.tensors[2].begin, header.tensors[2].end);
    EXPECT_EQ(header.metadata.at("format"), "pt");
    EXPECT_EQ(header.metadata.at("x"), "");
    EXPECT_TRUE(parse(safetensors_bytes("{}", "")).tensors.empty());
    EXPECT_TRUE(parse(safetensors_bytes("{}   \n", "")).tensors.empty());
    // Bits, not bytes, are counted: 3 x 2 elements of 4 bits, 4 of 6 bits.
    EXPECT_EQ(parse(one(R"("dtype":"F4","shape":[3,2],"data_offsets":[0,3])", 3)).tensors[0].dtype->bits, 4u);
    EXPECT_EQ(parse(one(R"("dtype":"F6_E3M2","shape":[4],"data_offsets":[0,3])", 3)).tensors[0].dtype->bits, 6u);
    const auto dtype_of = [](const std::string& name) {
        return parse(one(R"("dtype":")" + name + R"(","shape":[1],"data_offsets":[0,1])", 1)).tensors[0].dtype->dtype;
    };
    for (const auto* name : {"F8_E5M2", "F8_E4M3"}) EXPECT_EQ(dtype_of(name), DType::u8);
    for (const auto* name : {"F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"}) EXPECT_FALSE(dtype_of(name));
}

// Each of these was accepted by some published loader in C++ and made it read outside its buffer.
TEST(SafetensorsHeader, RefusesHeadersAcceptedByOtherLoaders) {
    EXPECT_THAT([] { parse(one(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])")); },
                header_refused("tensor 'a': the size of its shape overflows"));
    EXPECT_THAT([] { parse(one(R"("dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0])")); },
                header_refused("tensor 'a': the size of its shape overflows"));
    EXPECT_THAT([] { parse(std::string(8, '\xff') + "{}"); },
                header_refused("18446744073709551615 bytes; at most 100000000"));
    EXPECT_THAT([] { parse(one(R"("dtype":"F32","shape":[2,2],"data_offsets":[0,8])", 8)); },
                header_refused("tensor 'a': its shape needs 16 bytes; its offsets span 8"));
    EXPECT_THAT([] { parse(one(R"("dtype":"Q4_K","shape":[2],"data_offsets":[0,8])", 8)); },
                header_refused("tensor 'a': 'dtype' is the unknown dtype 'Q4_K'"));
    EXPECT_THAT([] { parse(one(R"("dtype":"F32","shape":[2],"data_offsets":[-8,0])", 8)); },
                header_refused("tensor 'a': 'data_offsets' should hold integers from 0 to 2^64 - 1 only"));
    EXPECT_THAT([] { parse(one(R"("dtype":"U8","shape":[1],"data_offsets":[0,18446744073709551615])", 1)); },
                header_refused("its offsets span 18446744073709551615"));
    const std::string backwards = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                                  R"("b":{"dtype":"U8","shape":[0],"data_offsets":[4,2]}})";
    EXPECT_THAT([&] { parse(safetensors_bytes(backwards, "1234")); },
                header_refused("tensor 'b': its data ends at 2, before it begins at 4"));
}

TEST(SafetensorsHeader, InconsistentLengths) {
    EXPECT_THAT([] { parse(""); }, header_refused("begins with 8 length bytes; this one has 0 bytes in all"));
    EXPECT_THAT([] { parse("1234567"); }, header_refused("this one has 7 bytes"));
    EXPECT_THAT([] { parse(std::string(8, '\0')); }, header_refused("the header should begin with '{'"));
    const auto claim = [](std::uint64_t length) {
        std::string bytes;
        for (int i = 0; i < 8; ++i) bytes += static_cast<char>((length >> (8 * i)) & 255);
        return bytes + "{}";
    };
    EXPECT_THAT([&] { parse(claim(100'000'000)); },
                header_refused("the header's length is 100000000 bytes, but only 2 follow"));
    EXPECT_THAT([&] { parse(claim(100'000'001)); }, header_refused("at most 100000000 are allowed"));
    EXPECT_THAT([&] { parse(claim(UINT64_MAX - 5)); }, header_refused("at most 100000000 are allowed"));
    EXPECT_THAT([&] { parse(claim(3)); }, header_refused("but only 2 follow"));
    EXPECT_THAT([&] { parse(claim(1)); }, header_refused("the header is not valid JSON"));
}

TEST(SafetensorsHeader, InvalidTexts) {
    const auto header = [](std::string text) { return [text] { parse(safetensors_bytes(text, "")); }; };
    EXPECT_THAT(header(" {}"), header_refused("should begin with '{'"));
    EXPECT_THAT(header("[]"), header_refused("should begin with '{'"));
    EXPECT_THAT(header("\xef\xbb\xbf{}"), header_refused("should begin with '{'"));
    EXPECT_THAT(header("{"), header_refused("not valid JSON"));
    EXPECT_THAT(header("{}{}"), header_refused("not valid JSON at byte 3"));
    EXPECT_THAT(header("{} PK\x03\x04"), header_refused("not valid JSON"));
    EXPECT_THAT(header(std::string("{}\0\0", 4)), header_refused("not valid JSON at byte 3"));
    EXPECT_THAT(header(std::string("{}\0garbage", 10)), header_refused("not valid JSON at byte 3"));
    EXPECT_THAT(header("{/* no */}"), header_refused("not valid JSON"));
    EXPECT_THAT(header("{\"a\xff\":1}"), header_refused("not valid UTF-8 at byte 4"));
    EXPECT_THAT(header("{\"\xc0\xaf\":1}"), header_refused("not valid UTF-8 at byte 3"));
    EXPECT_THAT(header("{\"\xed\xa0\x80\":1}"), header_refused("not valid UTF-8"));
    EXPECT_THAT(header("{\"\xf4\x90\x80\x80\":1}"), header_refused("not valid UTF-8"));
    EXPECT_THAT(header("{\"\xe2\x82"), header_refused("not valid UTF-8"));
    EXPECT_THAT(header(R"({"\ud800":1})"), header_refused("not valid JSON"));
    EXPECT_THAT(header(R"({"a":1})"), header_refused("tensor 'a' should be an object"));
    EXPECT_THAT(header(R"({"a":[1]})"), header_refused("tensor 'a' should be an object"));
    EXPECT_THAT(header(R"({"a":null})"), header_refused("tensor 'a' should be an object"));
    EXPECT_THAT(header(R"({"a":{"dtype":{"b":1}}})"), header_refused("tensor 'a': 'dtype' should be a string"));
    EXPECT_THAT(header(R"({"a":{"dtype":3}})"), header_refused("tensor 'a': 'dtype' should be a string"));
    EXPECT_THAT(header(R"({"a":{"dtype":"f32"}})"), header_refused("unknown dtype 'f32'"));
    EXPECT_THAT(header(R"({"a":{"shape":"2"}})"), header_refused("tensor 'a': 'shape' should be an array"));
    EXPECT_THAT(header(R"({"a":{"shape":[[2]]}})"), header_refused("'shape' should hold integers"));
    EXPECT_THAT(header(R"({"a":{"shape":[{}]}})"), header_refused("'shape' should hold integers"));
    EXPECT_THAT(header(R"({"a":{"strides":[2]}})"), header_refused("tensor 'a': 'strides' is no field of a tensor"));
    EXPECT_THAT(header(R"({"__metadata__":3})"), header_refused("'__metadata__' should be an object"));
    EXPECT_THAT(header(R"({"__metadata__":{"a":3}})"), header_refused("'__metadata__': 'a' should be a string"));
    EXPECT_THAT(header(R"({"__metadata__":{"a":{"b":"c"}}})"),
                header_refused("'__metadata__': 'a' should be a string"));
    // A metadata key may be called like a tensor's field, also before there is any tensor.
    EXPECT_THAT(header(R"({"__metadata__":{"shape":[0,7]}})"),
                header_refused("'__metadata__': 'shape' should be a string"));
    EXPECT_THAT(header(R"({"__metadata__":{"data_offsets":[0]}})"),
                header_refused("'data_offsets' should be a string"));
    EXPECT_EQ(parse(safetensors_bytes(R"({"__metadata__":{"dtype":"x"}})", "")).metadata.at("dtype"), "x");
    const std::string deep(100000, '[');
    EXPECT_THAT(header(R"({"a":)" + deep), header_refused("should be an object"));
    EXPECT_THAT(header(R"({"a":{"shape":)" + deep), header_refused("should hold integers"));
    EXPECT_THAT(header("{\"" + std::string(500, 'n') + "\":1}"), header_refused("nnn...' should be an object"));
}

TEST(SafetensorsHeader, InvalidFields) {
    const auto fields = [](std::string text, std::size_t bytes = 0) { return [=] { parse(one(text, bytes)); }; };
    EXPECT_THAT(fields(R"("shape":[],"data_offsets":[0,4])"), header_refused("tensor 'a' has no dtype"));
    EXPECT_THAT(fields(R"("dtype":"F32","data_offsets":[0,4])"), header_refused("tensor 'a' has no shape"));
    EXPECT_THAT(fields(R"("dtype":"F32","shape":[])"), header_refused("tensor 'a' has no data_offsets"));
    EXPECT_THAT(fields(R"("dtype":"F32","shape":[],"data_offsets":[0])"),
                header_refused("two numbers in data_offsets; it has 1"));
    EXPECT_THAT(fields(R"("dtype":"F32","shape":[],"data_offsets":[])"),
                header_refused("two numbers in data_offsets; it has 0"));
    EXPECT_THAT(fields(R"("dtype":"F32","shape":[],"data_offsets":[0,4,4])"), header_refused("it holds more"));
    EXPECT_THAT(fields(R"("dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4])"),
                header_refused("'dtype' comes twice"));
    EXPECT_THAT(fields(R"("dtype":"F32","shape":[],"shape":[1],"data_offsets":[0,4])"),
                header_refused("'shape' comes twice"));
    for (const auto* number : {"1.0", "1e0", "-1", "-0", "null", "true", "\"1\"", "18446744073709551616"}) {
        EXPECT_THAT(fields(std::string(R"("dtype":"U8","shape":[)") + number + R"(],"data_offsets":[0,1])", 1),
                    header_refused("'shape' should hold integers from 0"))
            << number;
    }
    EXPECT_THAT(fields(R"("dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,1])", 1),
                header_refused("more than a size can be"));
    EXPECT_THAT(fields(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])", 2),
                header_refused("its 12 bits are no whole number"));
}

TEST(SafetensorsHeader, DuplicateNames) {
    const std::string a = R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})", m = R"("__metadata__":{"x":"1"})";
    EXPECT_THAT([&] { parse(safetensors_bytes("{" + a + "," + a + "}", "")); },
                header_refused("the name 'a' comes twice"));
    EXPECT_THAT([&] { parse(safetensors_bytes("{" + m + "," + m + "}", "")); },
                header_refused("'__metadata__' comes twice"));
    EXPECT_THAT([] { parse(safetensors_bytes(R"({"__metadata__":{"x":"1","x":"1"}})", "")); },
                header_refused("'x' comes twice"));
    EXPECT_THAT([&] { parse(safetensors_bytes("{" + a + R"(,"\u0061":{}})", "")); },
                header_refused("the name 'a' comes twice"));
}

TEST(SafetensorsHeader, GapsOverlapsAndTrailingBytes) {
    const auto two = [](int b, int e, std::size_t bytes) {
        return [=] {
            parse(safetensors_bytes(
                R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],)"
                R"("data_offsets":[)" +
                    std::to_string(b) + "," + std::to_string(e) + "]}}",
                std::string(bytes, 'x')));
        };
    };
    EXPECT_NO_THROW(two(4, 8, 8)());
    EXPECT_THAT(two(5, 9, 9),
                header_refused("tensor 'b': its data begins at 5; without hole or overlap it would begin at 4"));
    EXPECT_THAT(two(3, 7, 7), header_refused("begins at 3"));
    EXPECT_THAT(two(0, 4, 4), header_refused("begins at 0"));
    EXPECT_THAT(two(4, 8, 9), header_refused("the tensors take 8 bytes after the header, but the file has 9"));
    EXPECT_THAT(two(4, 8, 7), header_refused("the tensors take 8 bytes after the header, but the file has 7"));
    EXPECT_THAT([] { parse(safetensors_bytes("{}", "PK")); },
                header_refused("take 0 bytes after the header, but the file has 2"));
    EXPECT_THAT([] { parse(one(R"("dtype":"U8","shape":[1],"data_offsets":[1,2])", 2)); },
                header_refused("begins at 1"));
}

TEST(SafetensorsHeader, EveryTruncationIsRefused) {
    for (const auto& seed : test::safetensors_seeds()) {
        for (std::size_t size = 0; size < seed.size(); ++size) {
            EXPECT_THROW(parse(seed.substr(0, size)), Error) << size;
        }
    }
}

TEST(SafetensorsHeader, SeedsAndMutationsSatisfyTheInvariantsOfTheFuzzer) {
    std::mt19937 random(3);
    const auto run = [](const std::string& bytes) {
        EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
    };
    for (const auto& seed : test::safetensors_seeds()) {
        run(seed);
        for (int i = 0; i < 3000; ++i) {
            auto bytes = seed;
            for (auto k = 1 + random() % 3; k > 0; --k) bytes[random() % bytes.size()] = static_cast<char>(random());
            run(bytes);
        }
    }
}

}  // namespace
}  // namespace cairn
