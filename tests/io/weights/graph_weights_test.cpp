#include "cairn/gguf.hpp"
#include "cairn/graph.hpp"
#include "cairn/weights.hpp"
#include "test_files.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/gguf_bytes.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace cairn {
namespace {

using test::message;
using test::safetensors_bytes;
using test::TempFolder;

TEST(GraphWeights, HaveDtypeAndShapeOfAFile) {
    const TempFolder folder;
    const auto path =
        folder.write("m.safetensors", safetensors_bytes(R"({"a.b":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]},)"
                                                        R"("a.w":{"dtype":"F16","shape":[2],"data_offsets":[4,8]},)"
                                                        R"("c":{"dtype":"I16","shape":[1],"data_offsets":[8,10]}})",
                                                        "0123456789"));
    const Safetensors file = Safetensors::open(path);
    Graph g("g");
    const auto layer = g.weights(file, "a.");
    ASSERT_EQ(layer.size(), 2U);
    EXPECT_EQ(to_string(layer.at("b").dtype(), layer.at("b").shape()), "bf16[2,1]");
    EXPECT_EQ(to_string(g), "graph g\n%0 = weight \"a.b\" : bf16[2,1]\n%1 = weight \"a.w\" : f16[2]\n");

    Graph h("h");
    EXPECT_EQ(to_string(h.weight(file, "a.w").shape()), "[2]");
    EXPECT_NE(message([&] { h.weight(file, "a"); }).find("there is no tensor 'a'"), std::string::npos);
    EXPECT_NE(message([&] { h.weight(file, "c"); }).find("tensor 'c' has the dtype I16"), std::string::npos);
    EXPECT_NE(message([&] { Graph("all").weights(file); }).find("tensor 'c' has the dtype I16"), std::string::npos);
    EXPECT_NE(message([&] { h.weight(file, "a.w"); }).find("graph_weights_test.cpp:"), std::string::npos);
}

TEST(GraphWeights, OfFloatsOf8BitsAreWidened) {
    const TempFolder folder;
    const auto path = folder.write("m.safetensors",
                                   safetensors_bytes(R"({"a":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]},)"
                                                     R"("b":{"dtype":"F8_E5M2","shape":[3],"data_offsets":[4,7]}})",
                                                     "0123456"));
    const Safetensors file = Safetensors::open(path);
    Graph g("g");
    const WeightMap weights = g.weights(file);
    EXPECT_EQ(to_string(weights.at("a").dtype(), weights.at("a").shape()), "f32[2,2]");
    EXPECT_EQ(to_string(weights.at("b").dtype(), weights.at("b").shape()), "f32[3]");
    EXPECT_NE(to_string(g).find("weight \"a\" : u8[2,2]"), std::string::npos);
    EXPECT_EQ(file.view("a").dtype, DType::u8);
}

TEST(GraphWeights, OfBlocksAreDequantized) {
    const TempFolder folder;
    const auto path = folder.write("m.gguf", test::GgufBytes()
                                                 .tensor("a.blocks", {64, 2}, 2, 0)
                                                 .tensor("a.halves", {3}, 1, 96)
                                                 .tensor("b.grid", {256}, 16, 128)
                                                 .bytes(std::string(256, '\0')));
    const Gguf file = Gguf::open(path);
    Graph g("g");
    const WeightMap layer = g.weights(file, "a.");
    ASSERT_EQ(layer.size(), 2U);
    EXPECT_EQ(to_string(layer.at("blocks").dtype(), layer.at("blocks").shape()), "f32[2,64]");
    EXPECT_EQ(to_string(layer.at("halves").dtype(), layer.at("halves").shape()), "f16[3]");
    EXPECT_NE(to_string(g).find("weight \"a.blocks\" : u8[2,2,18]"), std::string::npos);
    Graph h("h");
    EXPECT_EQ(to_string(h.weight(file, "a.blocks").shape()), "[2,64]");
    EXPECT_NE(message([&] {
                  h.weight(file, "b.grid");
              }).find("tensor 'b.grid' has the type IQ2_XXS, which Cairn cannot dequantize (graph_weights_test.cpp:"),
              std::string::npos)
        << message([&] { h.weight(file, "b.grid"); });
    EXPECT_NE(message([&] { h.weight(file, "a.block"); }).find("there is no tensor 'a.block'"), std::string::npos);
    EXPECT_NE(message([&] { h.weights(file, "c."); }).find("no tensor begins with 'c.'"), std::string::npos);
}

/// A file of these tensors, each of one byte.
std::filesystem::path file_of(const TempFolder& folder, const std::vector<std::string>& names) {
    std::string header;
    for (std::size_t i = 0; i < names.size(); ++i)
        header += (i == 0 ? "{\"" : ",\"") + names[i] + R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" +
                  std::to_string(i) + "," + std::to_string(i + 1) + "]}";
    return folder.write("m.safetensors", safetensors_bytes(header + "}", std::string(names.size(), 'x')));
}

TEST(GraphWeights, AWrongNameIsAnErrorWithFilePrefixAndCandidates) {
    const TempFolder folder;
    const auto path =
        file_of(folder, {"layer.0.bias", "layer.0.gain", "layer.0.norm", "layer.0.scale", "layer.0.weight", "x"});
    const Safetensors file = Safetensors::open(path);
    Graph g("g");
    const WeightMap layer = g.weights(file, "layer.0.");
    const std::string text = message([&] { layer.at("weigth"); });
    EXPECT_EQ(text.substr(0, text.rfind(" (")),
              "[weights] " + path.string() +
                  ": there is no tensor 'weigth' under the prefix 'layer.0.', the nearest of its 5 "
                  "tensors there are 'weight', 'bias', 'gain', 'norm'");
    EXPECT_NE(text.find("(graph_weights_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(message([&] { layer["w"]; }).find("there is no tensor 'w' under the prefix 'layer.0.'"),
              std::string::npos);
    EXPECT_TRUE(layer.contains("bias"));
    EXPECT_FALSE(layer.contains("layer.0.bias"));
    EXPECT_TRUE(layer.find("x") == layer.end());
    std::string names;
    for (const auto& [name, weight] : layer) names += name + " ";
    EXPECT_EQ(names, "bias gain norm scale weight ");
}

TEST(GraphWeights, AWrongPrefixIsAnErrorWithTheExistingPrefixes) {
    const TempFolder folder;
    const auto path = file_of(folder, {"h.0.w", "h.1.w", "wte"});
    const Safetensors file = Safetensors::open(path);
    Graph g("g");
    const std::string text = message([&] { g.weights(file, "h.O."); });
    EXPECT_EQ(text.substr(0, text.rfind(" (")),
              "[weights] " + path.string() +
                  ": no tensor begins with 'h.O.', its 3 prefixes are 'h.0.', 'h.1.', 'h.', of 3 tensors");
    EXPECT_NE(text.find("(graph_weights_test.cpp:"), std::string::npos) << text;
    EXPECT_EQ(g.size(), 0u) << "nothing is added to the graph";
    const Safetensors flat = Safetensors::open(file_of(folder, {"a", "b"}));
    EXPECT_NE(message([&] { g.weights(flat, "a."); }).find("no tensor begins with 'a.', its 2 tensors are 'a', 'b'"),
              std::string::npos);
    EXPECT_EQ(g.weights(flat).size(), 2u);
}

TEST(GraphWeights, AMissingTensorIsAnErrorWithTheNearestNames) {
    const TempFolder folder;
    const auto path = file_of(folder, {"a.w", "b"});
    const Safetensors file = Safetensors::open(path);
    EXPECT_EQ(file.path(), path);
    const std::string expected = path.string() + ": there is no tensor 'w', its 2 tensors are 'a.w', 'b'";
    EXPECT_EQ(message([&] { file.view("w"); }), "[safetensors] " + expected);
    const WeightSource source = file.source();
    EXPECT_EQ(message([&] { source("w"); }), "[safetensors] " + expected);
    EXPECT_EQ(message([&] { source("v"); }), "[safetensors] " + path.string() + ": there is no tensor 'v'");
    EXPECT_EQ(file.nearest("w", 1), std::vector<std::string>{"a.w"});
}

}  // namespace
}  // namespace cairn
