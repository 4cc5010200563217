#include "cairn/graph.hpp"
#include "cairn/weights.hpp"
#include "file_maker.hpp"
#include "tests/errors/message.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace cairn {
namespace {

using test::message;
using test::safetensors_bytes;
using test::TempFolder;

TEST(GraphWeights, TakeDtypeAndShapeFromAFile) {
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
    EXPECT_TRUE(g.weights(file, "nothing").empty());

    Graph h("h");
    EXPECT_EQ(to_string(h.weight(file, "a.w").shape()), "[2]");
    EXPECT_NE(message([&] { h.weight(file, "a"); }).find("there is no tensor 'a'"), std::string::npos);
    EXPECT_NE(message([&] { h.weight(file, "c"); }).find("tensor 'c' has the dtype I16"), std::string::npos);
    EXPECT_NE(message([&] { Graph("all").weights(file); }).find("tensor 'c' has the dtype I16"), std::string::npos);
    EXPECT_NE(message([&] { h.weight(file, "a.w"); }).find("graph_weights_test.cpp:"), std::string::npos);
}

}  // namespace
}  // namespace cairn
