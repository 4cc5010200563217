#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "cairn/weights.hpp"
#include "test_files.hpp"
#include "tests/io/weights/expect_error.hpp"
#include "tests/io/weights/resident_pages.hpp"

namespace cairn {
namespace {

using test::safetensors_bytes;
using test::TempFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Property;
using ::testing::Throws;

using test::refused;
using test::resident_pages;

const std::string small_header = R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                 R"("a":{"dtype":"I16","shape":[1],"data_offsets":[8,10]}})";

std::string padded(std::string header, std::size_t to) { return header.append((to - header.size() % to) % to, ' '); }

TEST(Safetensors, TensorsAreNotCopied) {
    const TempFolder folder;
    const float values[] = {1.5f, -2.0f};
    std::string data(reinterpret_cast<const char*>(values), sizeof values);
    const auto path = folder.write("m.safetensors", safetensors_bytes(padded(small_header, 8), data + "xy"));
    const auto file = Safetensors::open(path);
    ASSERT_EQ(file.tensors().size(), 2u);
    EXPECT_EQ(file.tensors()[0].name, "a");
    EXPECT_EQ(file.tensors()[0].dtype, "I16");
    EXPECT_EQ(file.tensors()[1].shape, std::vector<std::int64_t>{2});
    EXPECT_TRUE(file.contains("b"));
    EXPECT_FALSE(file.contains("c"));
    EXPECT_EQ(file.metadata("format"), "");
    const auto view = file.view("b");
    EXPECT_EQ(view.dtype, DType::f32);
    EXPECT_EQ(view.shape, std::vector<std::int64_t>{2});
    EXPECT_THAT(view.strides, IsEmpty());
    EXPECT_EQ(view.release, nullptr);
    EXPECT_EQ(std::memcmp(view.data, values, sizeof values), 0);
    EXPECT_EQ(file.view("b").data, view.data);
    EXPECT_THAT([&] { file.view("c"); }, refused("there is no tensor 'c'"));
    EXPECT_THAT([&] { file.view("a"); }, refused("tensor 'a' has the dtype I16", ErrorKind::unsupported));
}

TEST(Safetensors, AnUnalignedTensorIsCopied) {
    const TempFolder folder;
    const float values[] = {1.5f, -2.0f};
    const std::string data(reinterpret_cast<const char*>(values), sizeof values);
    const auto path = folder.write("m.safetensors", safetensors_bytes(padded(small_header, 8) + " ", data + "xy"));
    const auto file = Safetensors::open(path);
    for (const auto& view : {file.view("b"), file.source()("b")}) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.data) % 64, 0u);
        EXPECT_EQ(std::memcmp(view.data, values, sizeof values), 0);
        ASSERT_NE(view.release, nullptr);
        view.release(view.owner);
    }
}

TEST(Safetensors, AReleasedViewFreesOnlyItsPages) {
    const TempFolder folder;
    constexpr std::size_t size = 100 * 4096 + 1000;
    const auto header = R"({"a":{"dtype":"U8","shape":[)" + std::to_string(size) + R"(],"data_offsets":[0,)" +
                        std::to_string(size) + R"(]},"b":{"dtype":"U8","shape":[)" + std::to_string(size) +
                        R"(],"data_offsets":[)" + std::to_string(size) + "," + std::to_string(2 * size) + "]}}";
    const auto path =
        folder.write("m.safetensors", safetensors_bytes(header, std::string(size, 'a') + std::string(size, 'b')));
    WeightSource source;
    {
        const auto file = Safetensors::open(path);
        source = file.source();
    }
    const auto a = source("a"), b = source("b"), again = source("a");
    const auto all = [](const InputView& view, char wanted) {
        const auto* bytes = static_cast<const char*>(view.data);
        return std::all_of(bytes, bytes + size, [&](char byte) { return byte == wanted; });
    };
    EXPECT_TRUE(all(a, 'a'));
    EXPECT_TRUE(all(b, 'b'));
    const auto before = resident_pages(a.data, size);
    EXPECT_GE(before, 100u);
    a.release(a.owner);
    EXPECT_LE(resident_pages(again.data, size), 2u);
    EXPECT_GE(resident_pages(b.data, size), 100u);
    EXPECT_TRUE(all(again, 'a'));
    EXPECT_TRUE(all(b, 'b'));
    source = nullptr;  // views keep the map open
    EXPECT_TRUE(all(b, 'b'));
    again.release(again.owner);
    b.release(b.owner);
}

TEST(Safetensors, ManyThreadsReadOneFile) {
    const TempFolder folder;
    const auto path = folder.write("m.safetensors", safetensors_bytes(padded(small_header, 8), "12345678xy"));
    const auto file = Safetensors::open(path);
    const auto source = file.source();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < 200; ++k) {
                const auto view = source("b");
                EXPECT_EQ(std::memcmp(view.data, "12345678", 8), 0);
                view.release(view.owner);
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

TEST(Safetensors, EveryTruncationOfAFileIsRefused) {
    const TempFolder folder;
    const auto bytes = safetensors_bytes(padded(small_header, 8), "12345678xy");
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto path = folder.write("m.safetensors", bytes.substr(0, size));
        EXPECT_THAT([&] { Safetensors::open(path); }, refused(path.string())) << size;
    }
    EXPECT_NO_THROW(Safetensors::open(folder.write("m.safetensors", bytes)));
}

TEST(Safetensors, PathsThatCannotBeRead) {
    const TempFolder folder;
    EXPECT_THAT([&] { Safetensors::open(folder / "none.safetensors"); },
                refused("none.safetensors: cannot be opened: No such file"));
    EXPECT_THAT([&] { Safetensors::open(folder.path()); },
                refused("neither model.safetensors nor model.safetensors.index.json"));
    std::filesystem::create_directory(folder / "d");
    std::filesystem::create_directory(folder / "d/model.safetensors");
    EXPECT_THAT([&] { Safetensors::open(folder / "d"); }, refused("is not a regular file"));
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    EXPECT_THAT([&] { Safetensors::open(folder / "pipe"); }, refused("is not a regular file"));
    const auto path = folder.write("m.safetensors", safetensors_bytes("{}", ""));
    EXPECT_NO_THROW(Safetensors::open(path));
    EXPECT_THAT([&] { Safetensors::open(path / "x"); }, refused("Not a directory"));
    std::filesystem::permissions(path, std::filesystem::perms::none);
    // The superuser may read all files: become somebody else for a moment.
    const bool is_root = ::geteuid() == 0;
    if (is_root) { ASSERT_EQ(::seteuid(65534), 0); }
    EXPECT_THAT([&] { Safetensors::open(path); }, refused("cannot be opened: Permission denied"));
    if (is_root) { ASSERT_EQ(::seteuid(0), 0); }
}

class Shards : public testing::Test {
protected:
    static std::string holding(const std::string& name, char byte) {
        return safetensors_bytes(R"({"__metadata__":{"of":")" + name + R"("},")" + name +
                                     R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                                 std::string(1, byte));
    }
    void index(const std::string& text) const { folder_.write("model.safetensors.index.json", text); }
    Safetensors open() const { return Safetensors::open(folder_.path()); }
    TempFolder folder_;
};

TEST_F(Shards, AnIndexCombinesFiles) {
    folder_.write("model-1.safetensors", holding("b", 'B'));
    folder_.write("sub/model-2.safetensors", holding("a", 'A'));
    index(
        R"({"metadata":{"total_size":2,"x":[1,{"weight_map":{}}]},"weight_map":{"b":"model-1.safetensors","a":"sub/model-2.safetensors"}})");
    for (const auto& file : {open(), Safetensors::open(folder_ / "model.safetensors.index.json")}) {
        ASSERT_EQ(file.tensors().size(), 2u);
        EXPECT_EQ(file.tensors()[0].name, "a");
        EXPECT_EQ(*static_cast<const char*>(file.view("a").data), 'A');
        EXPECT_EQ(*static_cast<const char*>(file.view("b").data), 'B');
        EXPECT_EQ(file.metadata("of"), "b");
    }
    // A whole file next to the index is preferred.
    folder_.write("model.safetensors", holding("c", 'C'));
    EXPECT_TRUE(open().contains("c"));
}

TEST_F(Shards, FaultsAreNamedAtOnce) {
    folder_.write("1.safetensors", holding("a", 'A'));
    folder_.write("2.safetensors", holding("a", 'A'));
    index(
        R"({"weight_map":{"a":"1.safetensors","b":"1.safetensors","c":"2.safetensors","d":"3.safetensors","e":"4.safetensors"}})");
    EXPECT_THAT(
        [&] { open(); },
        refused("the file '3.safetensors' is missing; the file '4.safetensors' is missing; the tensor 'a' is in both"));
    EXPECT_THAT([&] { open(); },
                refused("the tensor 'b' is not in '1.safetensors'; the tensor 'c' is not in '2.safetensors'"));
    std::string many;
    for (int i = 0; i < 30; ++i) many += ",\"x" + std::to_string(i) + "\":\"2.safetensors\"";
    index(R"({"weight_map":{"a":"2.safetensors")" + many + "}}");
    EXPECT_THAT([&] { open(); }, refused("; and 10 more"));
    index(R"({"weight_map":{"a":"2.safetensors"}})");
    EXPECT_EQ(open().tensors().size(), 1u);
    folder_.write("2.safetensors", "torn");
    EXPECT_THAT([&] { open(); }, refused("2.safetensors: a safetensors file begins with 8 length bytes"));
}

TEST_F(Shards, InvalidIndexes) {
    folder_.write("1.safetensors", holding("a", 'A'));
    const auto with = [&](const std::string& text) {
        index(text);
        return [&] { open(); };
    };
    EXPECT_THAT(with(""), refused("the index is not valid JSON"));
    EXPECT_THAT(with("[]"), refused("the index should be an object"));
    EXPECT_THAT(with("3"), refused("the index should be an object"));
    EXPECT_THAT(with("{}"), refused("the index has no 'weight_map'"));
    EXPECT_THAT(with(R"({"weight_map":3})"), refused("'weight_map' should be an object"));
    EXPECT_THAT(with(R"({"weight_map":["a"]})"), refused("'weight_map' should hold strings only"));
    EXPECT_THAT(with(R"({"weight_map":{"a":3}})"), refused("'a' should be a string"));
    EXPECT_THAT(with(R"({"weight_map":{"a":{}}})"), refused("'a' should be a string"));
    EXPECT_THAT(with(R"({"weight_map":{"a":["1.safetensors"]}})"), refused("should hold strings only"));
    EXPECT_THAT(with(R"({"weight_map":{"a":"1.safetensors","a":"1.safetensors"}})"), refused("'a' comes twice"));
    EXPECT_THAT(with(R"({"weight_map":{},"weight_map":{}})"), refused("'weight_map' comes twice"));
    EXPECT_THAT(with(R"({"x":)" + std::string(100, '[')), refused("nested more than 64 deep"));
    for (const auto* path : {"../1.safetensors", "/etc/passwd", "sub/../../1.safetensors", "", ".", "..", "sub/",
                             "a\\\\b", "1.safetensors\\u0000x"}) {
        EXPECT_THAT(with(std::string(R"({"weight_map":{"a":")") + path + "\"}}"),
                    refused("not a file inside the folder of the index"))
            << path;
    }
}

}  // namespace
}  // namespace cairn
