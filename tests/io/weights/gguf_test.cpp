#include "cairn/gguf.hpp"
#include "test_files.hpp"
#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/gguf_bytes.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <random>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace cairn {
namespace {

using test::GgufBytes;
using test::refused;
using test::TempFolder;
using testing::ElementsAre;
using testing::IsEmpty;

enum : std::uint32_t { f32 = 0, f16 = 1, q8_0 = 8, q4_k = 12, i16 = 25, bf16 = 30 };

std::string written(const TempFolder& folder, const std::string& bytes) { return folder.write("m.gguf", bytes); }

TEST(Gguf, TensorsAreNotCopied) {
    const TempFolder folder;
    const float values[] = {1.5F, -2.0F, 3.0F, 4.0F, 5.0F, 6.0F};
    std::string data(reinterpret_cast<const char*>(values), sizeof values);
    data.resize(32);
    data += std::string(2 * 2 * 34, 'q');
    for (const std::uint32_t version : {2, 3}) {
        GgufBytes bytes;
        bytes.version = version;
        bytes.tensor("b", {3, 2}, f32, 0).tensor("a", {64, 2}, q8_0, 32);
        const Gguf file = Gguf::open(written(folder, bytes.bytes(data)));
        ASSERT_EQ(file.tensors().size(), 2U);
        EXPECT_EQ(file.tensors()[0].name, "a");
        EXPECT_EQ(file.tensors()[0].type, "Q8_0");
        EXPECT_THAT(file.tensors()[0].shape, ElementsAre(2, 64));
        EXPECT_THAT(file.tensors()[1].shape, ElementsAre(2, 3));
        const InputView b = file.view("b"), a = file.view("a");
        EXPECT_EQ(b.dtype, DType::f32);
        EXPECT_THAT(b.shape, ElementsAre(2, 3));
        EXPECT_EQ(b.release, nullptr);
        EXPECT_EQ(std::memcmp(b.data, values, sizeof values), 0);
        EXPECT_EQ(a.dtype, DType::u8);
        EXPECT_THAT(a.shape, ElementsAre(2, 2, 34));
        EXPECT_EQ(static_cast<const char*>(a.data) - static_cast<const char*>(b.data), 32);
        EXPECT_TRUE(file.contains("a"));
        EXPECT_FALSE(file.contains("c"));
        EXPECT_THAT(file.nearest("bb"), testing::Contains("b"));
        EXPECT_EQ(file.fingerprint().size(), 32U);
        InputView borrowed = file.source()("a");
        EXPECT_EQ(borrowed.data, a.data);
        borrowed.release(borrowed.owner);
        EXPECT_THAT([&] { file.view("c"); }, refused("[gguf] " + file.path().string() + ": there is no tensor 'c'"));
    }
}

TEST(Gguf, MetadataHasTypes) {
    const TempFolder folder;
    GgufBytes bytes;
    bytes.text("general.architecture", "gpt2").u32("gpt2.block_count", 12).u16("small", 65535);
    bytes.key("byte", 0, GgufBytes::raw<std::uint8_t>(200)).key("signed", 1, GgufBytes::raw<std::int8_t>(-3));
    bytes.key("short", 3, GgufBytes::raw<std::int16_t>(-300)).key("int", 5, GgufBytes::raw<std::int32_t>(-70000));
    bytes.key("eps", 6, GgufBytes::raw(0.5F)).key("yes", 7, "\x01").key("no", 7, std::string(1, '\0'));
    bytes.key("large", 10, GgufBytes::raw(std::numeric_limits<std::uint64_t>::max()));
    bytes.key("long", 11, GgufBytes::raw(std::numeric_limits<std::int64_t>::min()));
    bytes.key("double", 12, GgufBytes::raw(0.25));
    bytes.array("tokens", 8, 3, GgufBytes::string("a") + GgufBytes::string("") + GgufBytes::string("\xff"));
    bytes.array("types", 5, 2, GgufBytes::raw(1) + GgufBytes::raw(-1));
    bytes.array("scores", 6, 2, GgufBytes::raw(1.5F) + GgufBytes::raw(-1.0F)).array("empty", 6, 0, "");
    const Gguf file = Gguf::open(written(folder, bytes.bytes()));
    EXPECT_EQ(file.text("general.architecture"), "gpt2");
    EXPECT_EQ(file.integer("gpt2.block_count"), 12);
    EXPECT_EQ(file.integer("small"), 65535);
    EXPECT_EQ(file.integer("byte"), 200);
    EXPECT_EQ(file.integer("signed"), -3);
    EXPECT_EQ(file.integer("short"), -300);
    EXPECT_EQ(file.integer("int"), -70000);
    EXPECT_EQ(file.integer("long"), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(file.number("eps"), 0.5);
    EXPECT_EQ(file.number("double"), 0.25);
    EXPECT_EQ(file.number("int"), -70000);
    EXPECT_EQ(file.number("large"), 0x1p64);
    EXPECT_TRUE(file.flag("yes"));
    EXPECT_FALSE(file.flag("no"));
    EXPECT_THAT(file.texts("tokens"), ElementsAre("a", "", "\xff"));
    EXPECT_THAT(file.integers("types"), ElementsAre(1, -1));
    EXPECT_THAT(file.numbers("types"), ElementsAre(1, -1));
    EXPECT_THAT(file.numbers("scores"), ElementsAre(1.5, -1));
    EXPECT_THAT(file.numbers("empty"), IsEmpty());
    EXPECT_TRUE(file.has("yes"));
    EXPECT_FALSE(file.has("Yes"));
    EXPECT_EQ(file.keys().size(), 17U);
    EXPECT_EQ(file.keys()[0], "byte");
    EXPECT_THAT(file.tensors(), IsEmpty());
    EXPECT_THAT([&] { file.integer("gpt2.blockcount"); },
                refused("there is no key 'gpt2.blockcount', the nearest of its 17 keys are 'gpt2.block_count'"));
    EXPECT_THAT([&] { file.integer("eps"); }, refused("'eps' is f32, not an integer"));
    EXPECT_THAT([&] { file.integer("large"); }, refused("'large' is u64, not an integer of at most 64 bits with sign"));
    EXPECT_THAT([&] { file.integer("types"); }, refused("'types' is an array of i32, not an integer"));
    EXPECT_THAT([&] { file.integers("small"); }, refused("'small' is u16, not an array of integers"));
    EXPECT_THAT([&] { file.integers("empty"); }, refused("'empty' is an array of f32, not an array of integers"));
    EXPECT_THAT([&] { file.number("yes"); }, refused("'yes' is bool, not a number"));
    EXPECT_THAT([&] { file.flag("small"); }, refused("'small' is u16, not a bool"));
    EXPECT_THAT([&] { file.text("small"); }, refused("'small' is u16, not a string"));
    EXPECT_THAT([&] { file.texts("types"); }, refused("'types' is an array of i32, not an array of strings"));
}

TEST(Gguf, WhatIsWrongIsSaid) {
    const TempFolder folder;
    const auto fault = [&](const std::string& bytes, const std::string& what) {
        EXPECT_THAT([&] { Gguf::open(written(folder, bytes)); }, refused("m.gguf: " + what));
    };
    const auto of_tensor = [](const std::vector<std::uint64_t>& sizes, std::uint32_t type, std::uint64_t offset) {
        return GgufBytes().tensor("w", sizes, type, offset).bytes(std::string(64, 'x'));
    };
    const std::uint64_t huge = std::uint64_t{1} << 62;
    fault("", "does not begin with 'GGUF'");
    fault("GGML1234", "does not begin with 'GGUF'");
    fault("GGUF", "the version needs 4 bytes at 4, but only 0 follow");
    GgufBytes bytes;
    bytes.version = 1;
    fault(bytes.bytes(), "has version 1; supported are 2 and 3");
    bytes.version = 4;
    fault(bytes.bytes(), "has version 4; supported are 2 and 3");
    bytes.version = 0x03000000;
    fault(bytes.bytes(), "is big-endian, which is not supported");
    bytes = {};
    bytes.extra_keys = huge;
    fault(bytes.bytes(), std::to_string(huge) + " keys are more than the file can hold");
    bytes = {};
    bytes.extra_tensors = huge;
    fault(bytes.bytes(), std::to_string(huge) + " tensors are more than the file can list");
    fault(GgufBytes().key("k", 13, "").bytes(), "the key 'k' has the unknown type 13");
    fault(GgufBytes().key("k", 8, GgufBytes::raw(huge)).bytes(),
          "a string of the key 'k' needs " + std::to_string(huge) + " bytes");
    fault(GgufBytes().key("k", 7, "\x02").bytes(), "the key 'k' has a bool that is neither 0 nor 1");
    fault(GgufBytes().u32("", 1).bytes(), "a key is empty");
    fault(GgufBytes().u32("k", 1).u32("k", 2).bytes(), "the key 'k' comes twice");
    fault(GgufBytes().array("k", 9, 0, "").bytes(), "the key 'k' is an array of arrays");
    fault(GgufBytes().array("k", 12, huge, "").bytes(),
          "the key 'k': the size of its " + std::to_string(huge) + " elements overflows");
    fault(GgufBytes().array("k", 12, 5, "12345678").bytes(), "the key 'k' needs 40 bytes");
    fault(GgufBytes().array("k", 8, huge, "").bytes(),
          "the key 'k' has " + std::to_string(huge) + " strings, more than the file can hold");
    fault(of_tensor({1, 1, 1, 1, 1}, f32, 0), "tensor 'w' has 5 axes; at most 4 are allowed");
    fault(of_tensor({huge, 4}, f32, 0), "tensor 'w': the size of its shape overflows");
    fault(of_tensor({4 * huge - 1}, f32, 0), "tensor 'w': the size of its shape overflows");
    fault(of_tensor({huge}, f32, 0), "tensor 'w': the end of its data overflows");
    fault(of_tensor({4}, 4, 0), "tensor 'w' has the unknown type 4");
    fault(of_tensor({48}, q8_0, 0), "tensor 'w': its rows of 48 elements are no whole blocks of Q8_0, which have 32");
    fault(of_tensor({}, q4_k, 0), "tensor 'w': its rows of 1 elements are no whole blocks of Q4_K, which have 256");
    fault(of_tensor({4}, f32, 16), "tensor 'w': its data begins at 16, no multiple of the alignment 32");
    fault(of_tensor({17}, f32, 0), "tensor 'w': its data ends 68 bytes after the list of tensors, but 64 follow");
    fault(of_tensor({4}, f32, 0xffffffffffffffe0), "tensor 'w': its data ends");
    fault(GgufBytes().tensor("w", {4}, f32, 0).bytes(), "tensor 'w': its data ends 16 bytes after");
    fault(GgufBytes().tensor("", {4}, f32, 0).bytes("1234567812345678"), "a tensor has no name");
    fault(GgufBytes().tensor("w", {1}, f32, 0).tensor("w", {1}, f32, 32).bytes(std::string(64, 'x')),
          "tensor 'w' comes twice");
    fault(GgufBytes().tensor("v", {9}, f32, 0).tensor("w", {1}, f32, 32).bytes(std::string(64, 'x')),
          "the data of the tensors 'v' and 'w' overlaps");
    fault(GgufBytes().u32("general.alignment", 12).bytes(), "'general.alignment' is 12, which is no multiple of 8");
    fault(GgufBytes().u32("general.alignment", 0).bytes(), "'general.alignment' is 0, which is no multiple of 8");
    fault(GgufBytes().u16("general.alignment", 64).bytes(), "'general.alignment' is u16, not u32");
}

TEST(Gguf, TruncationsAndMutationsSatisfyTheInvariantsOfTheFuzzer) {
    const std::string whole = GgufBytes()
                                  .text("general.architecture", "gpt2")
                                  .u32("general.alignment", 8)
                                  .key("yes", 7, "\x01")
                                  .array("tokens", 8, 2, GgufBytes::string("a") + GgufBytes::string("bc"))
                                  .array("scores", 6, 2, GgufBytes::raw(1.5F) + GgufBytes::raw(-1.0F))
                                  .tensor("a", {3, 2}, f32, 0)
                                  .tensor("b", {64, 2}, q8_0, 24)
                                  .bytes(std::string(24 + 2 * 2 * 34, 'x'), 8);
    const auto run = [](const std::string& bytes) {
        EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
    };
    const TempFolder folder;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        run(whole.substr(0, size));
        EXPECT_THAT([&] { Gguf::open(written(folder, whole.substr(0, size))); }, testing::Throws<Error>()) << size;
    }
    std::mt19937 random(3);
    for (int i = 0; i < 30000; ++i) {
        std::string bytes = whole;
        for (auto k = 1 + random() % 3; k > 0; --k) bytes[random() % bytes.size()] = static_cast<char>(random());
        run(bytes);
    }
}

TEST(Gguf, AlignmentsScalarsAndEmptyTensors) {
    const TempFolder folder;
    const float value = 7;
    const Gguf file = Gguf::open(written(folder, GgufBytes()
                                                     .u32("general.alignment", 8)
                                                     .tensor("scalar", {}, f32, 8)
                                                     .tensor("none", {32, 0}, q8_0, 8)
                                                     .tensor("short", {1}, i16, 16)
                                                     .bytes("12345678" + GgufBytes::raw(value) + "1234ab", 8)));
    EXPECT_THAT(file.view("scalar").shape, IsEmpty());
    EXPECT_EQ(*static_cast<const float*>(file.view("scalar").data), value);
    EXPECT_THAT(file.view("none").shape, ElementsAre(0, 1, 34));
    EXPECT_THAT([&] { file.view("short"); }, refused("tensor 'short' has the dtype I16", ErrorKind::unsupported));
}

/// Part `number`, from 0, of a model of two, with a tensor of its own.
std::string part(std::uint16_t number, std::uint16_t count = 2, std::uint32_t tensors = 2) {
    return GgufBytes()
        .u16("split.no", number)
        .u16("split.count", count)
        .key("split.tensors.count", 5, GgufBytes::raw(tensors))
        .text("general.name", number == 0 ? "first" : "second")
        .tensor(number == 0 ? "a" : "b", {2}, f32, 0)
        .bytes(std::string(8, number == 0 ? 'a' : 'b'));
}

TEST(Gguf, AllPartsOfASplitModelAreOpened) {
    const TempFolder folder;
    const auto first = folder.write("m-00001-of-00002.gguf", part(0)),
               second = folder.write("m-00002-of-00002.gguf", part(1));
    for (const auto& path : {first, second}) {
        const Gguf file = Gguf::open(path);
        EXPECT_EQ(file.path(), path);
        ASSERT_EQ(file.tensors().size(), 2U);
        EXPECT_EQ(*static_cast<const char*>(file.view("a").data), 'a');
        EXPECT_EQ(*static_cast<const char*>(file.view("b").data), 'b');
        EXPECT_EQ(file.text("general.name"), "first");
    }
}

TEST(Gguf, PartsThatDoNotFitAreRefused) {
    const TempFolder folder;
    const auto path = folder / "m-00001-of-00002.gguf";
    const auto fault = [&](const std::string& first, const std::string& second, const std::string& what) {
        folder.write("m-00001-of-00002.gguf", first);
        folder.write("m-00002-of-00002.gguf", second);
        EXPECT_THAT([&] { Gguf::open(path); }, refused(what));
    };
    fault(part(0), part(0), "says that it is part 0 (from 0) of 2, but its name says 1 of 2");
    fault(part(0), part(1, 3), "says that it is part 1 (from 0) of 3, but its name says 1 of 2");
    fault(part(2), part(1), "says that it is part 2 (from 0) of 2");
    fault(part(0, 2, 5), part(1), "the parts have 2 tensors; split.tensors.count is 5");
    fault(part(0), GgufBytes().u16("split.no", 1).u16("split.count", 2).tensor("a", {}, f32, 0).bytes("1234"),
          "the tensor 'a' is in");
    fault(GgufBytes().text("split.count", "2").bytes(), part(1), "'split.count' is string, not an integer");
    fault(part(0, 3), part(1, 3), "is part 1 of 3 of a model, so its name should end in -00001-of-00003.gguf");
    const auto missing = folder.write("n-00002-of-00002.gguf", part(1));
    EXPECT_THAT([&] { Gguf::open(missing); }, refused("the file 'n-00001-of-00002.gguf' is missing"));
}

TEST(Gguf, AMovedFromObjectIsRefused) {
    const TempFolder folder;
    Gguf file = Gguf::open(written(folder, GgufBytes().u32("k", 1).bytes()));
    const Gguf moved = std::move(file);
    EXPECT_EQ(moved.integer("k"), 1);
    EXPECT_THAT([&] { file.keys(); }, refused("moved-from", ErrorKind::argument));  // NOLINT(bugprone-use-after-move)
}

// Written by the Python package gguf 0.19.0, which shares no code with this reader.
TEST(Gguf, AFileOfTheReferenceWriterIsRead) {
    const Gguf file = Gguf::open(CAIRN_SOURCE_DIR "/tests/io/weights/reference.gguf");
    EXPECT_EQ(file.text("general.architecture"), "test");
    EXPECT_EQ(file.integer("test.block_count"), 2);
    EXPECT_EQ(file.number("test.epsilon"), static_cast<double>(1e-5F));
    EXPECT_TRUE(file.flag("test.tied"));
    EXPECT_THAT(file.texts("tokenizer.ggml.tokens"), ElementsAre("a", "\xc4\xa0the"));
    EXPECT_THAT(file.integers("tokenizer.ggml.token_type"), ElementsAre(1, 3));
    ASSERT_EQ(file.tensors().size(), 3U);
    EXPECT_EQ(file.tensors()[0].type, "Q8_0");
    EXPECT_THAT(file.view("blocks").shape, ElementsAre(2, 2, 34));
    EXPECT_THAT(file.view("halves").shape, ElementsAre(3));
    EXPECT_EQ(file.view("halves").dtype, DType::f16);
    const InputView plain = file.view("plain");
    EXPECT_THAT(plain.shape, ElementsAre(2, 3));
    for (int i = 0; i < 6; ++i) EXPECT_EQ(static_cast<const float*>(plain.data)[i], static_cast<float>(i) / 2);
}

}  // namespace
}  // namespace cairn
