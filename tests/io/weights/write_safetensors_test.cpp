#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "cairn/weights.hpp"
#include "test_files.hpp"
#include "tests/io/weights/expect_error.hpp"

namespace cairn {
namespace {

using test::TempFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

using test::refused;

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t file_count(const TempFolder& folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

NamedTensor tensor(std::string name, DType dtype, std::vector<std::int64_t> shape, const void* data) {
    NamedTensor result{std::move(name), {}};
    result.view.data = data;
    result.view.dtype = dtype;
    result.view.shape = std::move(shape);
    return result;
}

TEST(WriteSafetensors, EveryDTypeRoundTripsAligned) {
    const TempFolder folder;
    const auto path = folder / "m.safetensors";
    std::vector<std::vector<char>> data;
    std::vector<NamedTensor> tensors;
    for (int i = 0; i < 9; ++i) {
        const auto dtype = static_cast<DType>(8 - i);
        data.emplace_back(3 * size_of(dtype), static_cast<char>(i + 1));
        tensors.push_back(tensor("t" + std::to_string(i), dtype, {3, 1}, data.back().data()));
    }
    tensors.push_back(tensor("\xc3\xa9 \"quoted\"", DType::f32, {0, 5}, nullptr));
    tensors.push_back(tensor("scalar", DType::f64, {}, data.back().data()));
    write_safetensors(path, tensors, {{"format", "pt"}});
    const auto file = Safetensors::open(path);
    EXPECT_EQ(file.tensors().size(), 11u);
    EXPECT_EQ(file.metadata("format"), "pt");
    for (std::size_t i = 0; i < 9; ++i) {
        const auto view = file.view(tensors[i].name);
        EXPECT_EQ(view.release, nullptr) << "not aligned";
        EXPECT_EQ(view.dtype, tensors[i].view.dtype);
        EXPECT_EQ(view.shape, tensors[i].view.shape);
        EXPECT_EQ(std::memcmp(view.data, data[i].data(), data[i].size()), 0);
    }
    EXPECT_EQ(file.view("\xc3\xa9 \"quoted\"").shape, (std::vector<std::int64_t>{0, 5}));
    EXPECT_TRUE(file.view("scalar").shape.empty());
    EXPECT_EQ(file_count(folder), 1u);
}

// What the reference writer writes for the same tensor, byte by byte.
TEST(WriteSafetensors, TheBytesMatchTheReferenceWriter) {
    const TempFolder folder;
    const float values[] = {0, 1, 2, 3, 4, 5};
    write_safetensors(folder / "m", {tensor("attn0", DType::f32, {1, 1, 2, 3}, values)});
    const std::string header = R"({"attn0":{"dtype":"F32","shape":[1,1,2,3],"data_offsets":[0,24]}})";
    EXPECT_EQ(content(folder / "m"), test::safetensors_bytes(header + std::string(7, ' '),
                                                             {reinterpret_cast<const char*>(values), sizeof values}));
    write_safetensors(folder / "m", {});
    EXPECT_EQ(content(folder / "m"), test::safetensors_bytes("{}      ", ""));
}

TEST(WriteSafetensors, LargerElementsAreFirstOtherwiseInGivenOrder) {
    const TempFolder folder;
    const char byte = 1;
    const double word = 2;
    write_safetensors(folder / "m", {tensor("z", DType::u8, {1}, &byte), tensor("d", DType::f64, {1}, &word),
                                     tensor("a", DType::i8, {1}, &byte), tensor("c", DType::i64, {1}, &word)});
    const auto text = content(folder / "m");
    EXPECT_LT(text.find("\"d\""), text.find("\"c\""));
    EXPECT_LT(text.find("\"c\""), text.find("\"z\""));
    EXPECT_LT(text.find("\"z\""), text.find("\"a\""));
}

TEST(WriteSafetensors, ViewsAreReleasedOnceAlsoOnErrors) {
    const TempFolder folder;
    int released = 0;
    const float value = 1;
    auto one = tensor("a", DType::f32, {1}, &value);
    one.view.owner = &released;
    one.view.release = [](void* owner) { ++*static_cast<int*>(owner); };
    write_safetensors(folder / "m", {one});
    EXPECT_EQ(released, 1);
    EXPECT_THROW(write_safetensors(folder / "none/m", {one}), Error);
    EXPECT_EQ(released, 2);
    EXPECT_THROW(write_safetensors(folder / "m", {one, one}), Error);
    EXPECT_EQ(released, 4);
}

TEST(WriteSafetensors, FaultsKeepTheOldFile) {
    const TempFolder folder;
    const float values[4] = {1, 2, 3, 4};
    const auto path = folder.write("m", "old");
    const auto fails = [&](std::vector<NamedTensor> tensors, const std::string& what) {
        EXPECT_THAT([&] { write_safetensors(path, tensors); }, refused(what, ErrorKind::argument));
        EXPECT_EQ(content(path), "old");
        EXPECT_EQ(file_count(folder), 1u);
    };
    const auto good = tensor("a", DType::f32, {2, 2}, values);
    auto bad = good;
    fails({good, good}, "tensor 'a': the name is taken");
    bad.name = "__metadata__";
    fails({bad}, "the name is taken");
    bad.name = "\xff";
    fails({bad}, "not valid UTF-8");
    bad = good;
    bad.view.strides = {1, 2};
    fails({bad}, "it is not dense");
    bad.view.strides = {1};
    fails({bad}, "one stride an axis");
    bad = good;
    bad.view.shape = {-1};
    fails({bad}, "negative");
    bad.view.shape = {INT64_MAX, 4};
    fails({bad}, "overflows");
    bad = good;
    bad.view.data = nullptr;
    fails({bad}, "it has no data");
    bad = good;
    bad.view.device = Device::cuda();
    fails({bad}, "not in the memory of the CPU");
    bad = good;
    bad.view.strides = {2, 1};
    bad.view.shape = {2, 2};
    EXPECT_NO_THROW(write_safetensors(path, {bad}));
    EXPECT_THAT([&] { write_safetensors(folder / "none/m", {good}); },
                refused("cannot be created: No such file", ErrorKind::file));
    std::filesystem::create_directories(folder / "d/x");
    EXPECT_THAT([&] { write_safetensors(folder / "d", {good}); }, refused("cannot be renamed", ErrorKind::file));
    EXPECT_EQ(file_count(folder), 2u);
}

TEST(WriteSafetensors, ALinkIsReplacedNotFollowed) {
    const TempFolder folder;
    const std::vector<float> values(1000);
    std::filesystem::create_symlink("/dev/full", folder / "full");
    // The new file is created next to the name, never through the link.
    write_safetensors(folder / "full", {tensor("a", DType::f32, {1000}, values.data())});
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / "full")));
}

}  // namespace
}  // namespace cairn
