#include "io/onnx_file/onnx_file.hpp"
#include "tests/io/onnx_file/onnx_bytes.hpp"
#include "tests/io/weights/test_files.hpp"

#include "cairn/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

namespace cairn::onnx {
namespace {

namespace fs = std::filesystem;
using test::Message, test::TempFolder;
using testing::AllOf, testing::HasSubstr;

using Entries = std::map<std::string, std::string>;

/// TensorProto of f32 with external data.
Message external_tensor(std::string_view name, std::int64_t elements, const Entries& entries) {
    Message made = Message().packed(1, {elements}).number(2, 1).text(8, name).number(14, 1);
    for (const auto& [key, text] : entries) made.message(13, Message().text(1, key).text(2, text));
    return made;
}

Message model_with(const std::vector<Message>& initializers) {
    Message graph = test::graph({test::node("Relu", {"x"}, {"y"})}, "y", "x");
    for (const Message& each : initializers) graph.message(5, each);
    return test::model(graph);
}

/// A folder `inner` with a model, in one with files outside of it.
class ExternalData : public testing::Test {
protected:
    ExternalData() {
        fs::create_directories(folder_ / "inner/deep");
        folder_.write("outside", bytes_);
        folder_.write("inner/data", bytes_);
        folder_.write("inner/deep/data", bytes_);
    }

    OnnxFile open(const std::vector<Message>& initializers) {
        return OnnxFile(folder_.write("inner/m.onnx", model_with(initializers).bytes()));
    }
    std::string fault(const Entries& entries, std::int64_t elements = 2) {
        try {
            open({external_tensor("w", elements, entries)});
        } catch (const Error& error) { return error.what(); }
        return "opened";
    }

    const std::string bytes_ = "0123456789abcdef";
    TempFolder folder_;
};

TEST_F(ExternalData, IsAViewOfTheFileThatTheTensorNames) {
    const OnnxFile file =
        open({external_tensor("all", 4, {{"location", "data"}}),
              external_tensor("part", 2, {{"location", "deep/data"}, {"offset", "4"}, {"length", "8"}}),
              external_tensor("none", 0, {{"location", "data"}, {"offset", "16"}})});
    const auto& tensors = file.model().graph.initializers;
    const auto text_of = [](const TensorProto& tensor) {
        return std::string(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
    };
    ASSERT_EQ(tensors.size(), 3U);
    EXPECT_EQ(text_of(tensors[0]), bytes_);
    EXPECT_EQ(text_of(tensors[1]), "456789ab");
    EXPECT_EQ(text_of(tensors[2]), "");
    for (const TensorProto& tensor : tensors) EXPECT_FALSE(tensor.is_external);
}

TEST_F(ExternalData, OfNestedGraphsIsMappedToo) {
    Message branch = test::graph({test::node("Neg", {"w"}, {"r"})}, "r");
    branch.message(5, external_tensor("w", 1, {{"location", "data"}}));
    const Message graph =
        test::graph({test::node("If", {"x"}, {"y"}, {test::attribute("then_branch", branch)})}, "y", "x");
    const OnnxFile file(folder_.write("inner/m.onnx", test::model(graph).bytes()));
    EXPECT_EQ(file.model().graph.nodes[0].attributes[0].graphs[0].initializers[0].data.size(), 4U);
}

TEST_F(ExternalData, LiesInsideTheFolderOfTheModel) {
    fs::create_symlink(folder_ / "outside", folder_ / "inner/link");
    fs::create_directory_symlink(folder_.path(), folder_ / "inner/up");
    fs::create_hard_link(folder_ / "outside", folder_ / "inner/hard");
    EXPECT_EQ(fault({{"location", "data"}}), "opened");
    for (const std::string location : {"../outside", "deep/../data", "./data", "", "/", "deep/", "deep//data", ".."})
        EXPECT_THAT(fault({{"location", location}}), HasSubstr("is no path to a file inside this folder")) << location;
    EXPECT_THAT(fault({{"location", (folder_ / "inner/data").string()}}), HasSubstr("is no path to a file inside"));
    EXPECT_THAT(fault({{"location", std::string("data\0x", 6)}}), HasSubstr("is no path to a file inside"));
    EXPECT_THAT(fault({{"location", "link"}}), HasSubstr("cannot be opened"));
    EXPECT_THAT(fault({{"location", "up/outside"}}), HasSubstr("cannot be opened"));
    EXPECT_THAT(fault({{"location", "hard"}}), HasSubstr("has a hard link elsewhere"));
    EXPECT_THAT(fault({{"location", "deep"}}), HasSubstr("is not a regular file"));
    EXPECT_THAT(fault({{"location", "missing"}}), HasSubstr("cannot be opened: No such file"));
}

TEST_F(ExternalData, HasTheBytesOfTheElements) {
    EXPECT_THAT(fault({}), HasSubstr("tensor 'w' has no location of its external data"));
    EXPECT_THAT(fault({{"location", "data"}, {"length", "4"}}),
                HasSubstr("tensor 'w' has 4 external bytes for 2 elements of FLOAT"));
    EXPECT_THAT(fault({{"location", "data"}, {"offset", "9"}}), HasSubstr("is bytes 9 to 17 of a file of 16"));
    EXPECT_THAT(fault({{"location", "data"}, {"offset", "18446744073709551612"}}), HasSubstr("of a file of 16"));
    for (const std::string offset : {"-4", "4x", "", "18446744073709551616"})
        EXPECT_THAT(fault({{"location", "data"}, {"offset", offset}}), HasSubstr("of external data")) << offset;
    EXPECT_THAT(fault({{"location", "data"}}, 5), HasSubstr("is bytes 0 to 20 of a file of 16"));
}

TEST_F(ExternalData, AllFaultsAreInOneMessage) {
    try {
        open({external_tensor("a", 1, {{"location", "../outside"}}), external_tensor("b", 9, {{"location", "data"}})});
        FAIL() << "it was opened";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::file);
        EXPECT_THAT(error.what(),
                    AllOf(HasSubstr("'../outside' is no path"), HasSubstr("tensor 'b' is bytes 0 to 36")));
    }
}

}  // namespace
}  // namespace cairn::onnx
