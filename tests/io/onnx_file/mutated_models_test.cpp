// ONNX files, corrupted at random: they are parsed or rejected by a cairn::Error.
#include "cairn/error.hpp"
#include "io/onnx_file/resolve_names.hpp"
#include "tests/io/json_reader/json_mutator.hpp"
#include "tests/io/onnx_file/onnx_bytes.hpp"

#include <gtest/gtest.h>

namespace cairn::onnx {
namespace {

using test::Message, test::attribute, test::node, test::value;

/// A model with all kinds of messages.
std::string whole_model() {
    Message branch;
    branch.message(1, node("Relu", {"a"}, {"r"})).message(12, value("r", {"n"}));
    Message graph;
    graph.message(1, node("Gemm", {"x", "w", "b"}, {"a"}, {attribute("transB", 1)}));
    graph.message(1, node("If", {"c"}, {"y"}, {attribute("then_branch", branch), attribute("else_branch", branch)}));
    graph.message(5, test::tensor("w", ElementType::f32, {2, 3}, std::string(24, '\1')));
    graph.message(5, Message().packed(1, {3}).number(2, 1).text(8, "b").packed_floats(4, {1, 2, 3}));
    graph.message(5, Message().packed(1, {1}).number(2, 9).text(8, "c").packed(5, {1}));
    graph.message(11, value("x", {"n", "2"})).message(12, value("y", {"n", "3"}));
    Message function;
    function.text(1, "f").texts(4, {"a"}).texts(5, {"b"}).message(7, node("Relu", {"a"}, {"b"}));
    return test::model(graph).message(14, Message().text(1, "k").text(2, "v")).message(25, function).bytes();
}

/// Elements of every tensor are inside the file or of the tensor's own.
void check(const GraphProto& graph, std::span<const std::byte> bytes) {
    for (const TensorProto& tensor : graph.initializers) {
        if (tensor.data.empty() || tensor.owned != nullptr) continue;
        EXPECT_GE(tensor.data.data(), bytes.data());
        EXPECT_LE(tensor.data.data() + tensor.data.size(), bytes.data() + bytes.size());
    }
    for (const NodeProto& each : graph.nodes)
        for (const AttributeProto& attribute : each.attributes)
            for (const GraphProto& inner : attribute.graphs) check(inner, bytes);
}

TEST(MutatedModels, AreParsedOrRefused) {
    const std::string whole = whole_model();
    test::Mutator mutator(7);
    int parsed = 0, rounds = 20000;
    for (int round = 0; round < rounds; ++round) {
        // In a block of its own size, so that a sanitizer sees reads beyond it.
        const std::string text = round == 0 ? whole : mutator.mutate(whole);
        const std::vector<char> exact(text.begin(), text.end());
        const std::span<const std::byte> bytes = std::as_bytes(std::span(exact));
        try {
            ModelProto model = parse_model(bytes, "m.onnx");
            check(model.graph, bytes);
            resolve_names(model, "m.onnx");
            ++parsed;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::file) << error.what();
            EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
        } catch (const std::exception& error) { ADD_FAILURE() << "round " << round << ": " << error.what(); }
        ASSERT_TRUE(round > 0 || parsed == 1) << "the model as it is";
    }
    EXPECT_GT(parsed, rounds / 100);
    EXPECT_LT(parsed, rounds / 2);
}

}  // namespace
}  // namespace cairn::onnx
