#include "io/onnx_file/onnx_file.hpp"
#include "tests/io/onnx_file/onnx_bytes.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace cairn::onnx {
namespace {

using test::Message, test::attribute, test::node, test::value;
using testing::ElementsAre, testing::HasSubstr;

/// The error that parsing throws.
std::string parse_fault(const Message& model) {
    try {
        parse_model(model.span(), "m.onnx");
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::file);
        return error.what();
    }
    return "parsed";
}

std::string attribute_fault(const Message& made) {
    return parse_fault(test::model(test::graph({node("Op", {}, {"y"}, {made})})));
}

TEST(ModelReader, ReadsAllFields) {
    const Message weights = test::tensor("w", ElementType::f32, {2, 3}, std::string(24, '\1'));
    Message graph =
        test::graph({node("Gemm", {"x", "w", ""}, {"y"}, {attribute("transB", 1)}).text(3, "fc").text(7, "ai.onnx")});
    graph.text(2, "net").message(5, weights).message(11, value("x", {"batch.size", "2"})).message(12, value("y", {}));
    Message whole = test::model(graph);
    whole.text(2, "writer").text(3, "1.2").text(4, "here").number(5, 3);
    whole.message(8, Message().text(1, "ai.onnx.ml").number(2, 2));
    whole.message(14, Message().text(1, "key").text(2, "of it")).message(20, Message());
    whole.message(25, Message()
                          .text(1, "f")
                          .texts(4, {"a"})
                          .texts(5, {"b"})
                          .texts(6, {"alpha"})
                          .message(7, node("Relu", {"a"}, {"b"}))
                          .text(10, "own"));
    const ModelProto model = parse_model(whole.span(), "m.onnx");
    EXPECT_EQ(model.ir_version, 8);
    EXPECT_EQ(model.opsets, (OpsetVersions{{"", 17}, {"ai.onnx.ml", 2}}));
    EXPECT_EQ(model.producer + model.producer_version + model.domain, "writer1.2here");
    EXPECT_EQ(model.model_version, 3);
    EXPECT_EQ(model.metadata.at("key"), "of it");
    EXPECT_TRUE(model.has_training);
    ASSERT_EQ(model.graph.nodes.size(), 1U);
    const NodeProto& read = model.graph.nodes[0];
    EXPECT_EQ(read.op + " " + read.name + read.domain, "Gemm fc") << "ai.onnx is the empty domain";
    EXPECT_THAT(read.inputs, ElementsAre("x", "w", ""));
    ASSERT_NE(read.find("transB"), nullptr);
    EXPECT_EQ(read.find("transB")->i, 1);
    EXPECT_EQ(read.find("transA"), nullptr);
    ASSERT_EQ(model.graph.inputs.size(), 1U);
    const ValueProto& input = model.graph.inputs[0];
    EXPECT_TRUE(input.kind == ValueProto::Kind::tensor && input.has_shape && input.type == ElementType::f32);
    ASSERT_EQ(input.dims.size(), 2U);
    EXPECT_EQ(input.dims[0].parameter, "batch.size");
    EXPECT_EQ(input.dims[1].value, 2);
    ASSERT_EQ(model.graph.initializers.size(), 1U);
    EXPECT_THAT(model.graph.initializers[0].dims, ElementsAre(2, 3));
    ASSERT_EQ(model.functions.size(), 1U);
    EXPECT_EQ(model.functions[0].domain + model.functions[0].name, "ownf");
    EXPECT_EQ(model.functions[0].nodes.size(), 1U);
}

TEST(ModelReader, ReadsAttributesOfEveryKind) {
    const Message numbers = test::tensor("", ElementType::i64, {1}, std::string(8, '\0'));
    const std::vector<std::pair<Message, std::string_view>> all{
        {Message().text(1, "a").float32(2, 0.5F), "FLOAT"},
        {Message().text(1, "a").number(3, -1), "INT"},
        {Message().text(1, "a").text(4, "s"), "STRING"},
        {Message().text(1, "a").message(5, numbers), "TENSOR"},
        {Message().text(1, "a").message(6, Message()), "GRAPH"},
        {Message().text(1, "a").float32(7, 1).packed_floats(7, {2, 3}), "FLOATS"},
        {Message().text(1, "a").number(8, 1).packed(8, {2, 3}), "INTS"},
        {Message().text(1, "a").texts(9, {"1", "2", "3"}), "STRINGS"},
        {Message().text(1, "a").message(10, numbers).message(10, numbers), "TENSORS"},
        {Message().text(1, "a").message(11, Message()).message(11, Message()), "GRAPHS"},
        {Message().text(1, "a").message(22, Message()), "SPARSE_TENSOR"},
        {Message().text(1, "a").message(14, Message()), "TYPE_PROTO"},
        {Message().text(1, "a").number(20, 7), "INTS"}};
    for (const auto& [made, kind] : all) {
        const ModelProto model =
            parse_model(test::model(test::graph({node("Op", {}, {"y"}, {made})})).span(), "m.onnx");
        const AttributeProto& read = model.graph.nodes.at(0).attributes.at(0);
        EXPECT_EQ(to_string(read.kind), kind);
        if (kind == "FLOATS") { EXPECT_THAT(read.floats, ElementsAre(1, 2, 3)); }
        if (kind == "INTS" && !read.ints.empty()) { EXPECT_THAT(read.ints, ElementsAre(1, 2, 3)); }
        if (kind == "STRINGS") { EXPECT_THAT(read.strings, ElementsAre("1", "2", "3")); }
        EXPECT_EQ(read.tensors.size(), kind == "TENSOR" ? 1U : kind == "TENSORS" ? 2U : 0U);
        EXPECT_EQ(read.graphs.size(), kind == "GRAPH" ? 1U : kind == "GRAPHS" ? 2U : 0U);
    }
}

TEST(ModelReader, RefusesFaultyAttributes) {
    EXPECT_THAT(attribute_fault(Message().number(3, 1)),
                HasSubstr("graph.node[0].attribute[0]: attribute '': it has no name"));
    EXPECT_THAT(attribute_fault(Message().text(1, "a")), HasSubstr("'a': it has no value"));
    EXPECT_THAT(attribute_fault(Message().text(1, "a").number(3, 1).float32(2, 1)),
                HasSubstr("values of several types"));
    EXPECT_THAT(attribute_fault(Message().text(1, "a").number(3, 1).number(20, 1)),
                HasSubstr("its type is FLOAT, its value one of INT"));
    EXPECT_THAT(attribute_fault(Message().text(1, "a").number(20, 99)), HasSubstr("there is no type 99 of attributes"));
    EXPECT_THAT(attribute_fault(Message().text(1, "a").number(20, 5)), HasSubstr("it has 0 values of GRAPH"));
    EXPECT_THAT(attribute_fault(Message().text(1, "a").text(3, "1")),
                HasSubstr("INT is a string or message, not an integer"));
    EXPECT_THAT(attribute_fault(Message().text(1, "a").text(21, "b").number(3, 1)),
                HasSubstr("it has a value and refers to one"));
    EXPECT_THAT(parse_fault(test::model(test::graph({node("Op", {}, {"y"}, {attribute("a", 1), attribute("a", 2)})}))),
                HasSubstr("graph.node[0]: it has two attributes 'a'"));
}

TEST(ModelReader, RefusesWhatIsNoModel) {
    const Message graph = test::graph({node("Relu", {"x"}, {"y"})});
    EXPECT_THAT(parse_fault(Message()), HasSubstr("[onnx] m.onnx: it is no ONNX model: it has no ir_version"));
    EXPECT_THAT(parse_fault(Message().number(1, 8)), HasSubstr("it has no graph"));
    EXPECT_THAT(parse_fault(Message().number(1, 8).message(7, graph)), HasSubstr("it imports no operator set"));
    EXPECT_THAT(parse_fault(test::model(graph).message(7, graph)), HasSubstr("it has two graphs"));
    EXPECT_THAT(parse_fault(test::model(graph).message(8, Message().number(2, 18))),
                HasSubstr("the operator set '' is imported as 17 and 18"));
    EXPECT_THAT(parse_fault(test::model(test::graph({Message().text(1, "x")}))),
                HasSubstr("graph.node[0]: it names no operator"));
    EXPECT_THAT(parse_fault(Message().text(1, "8")), HasSubstr("ir_version is a string or message, not an integer"));
    EXPECT_EQ(parse_fault(test::model(graph)), "parsed");
    const std::string bytes = test::model(graph).bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_THROW(parse_model(std::as_bytes(std::span(bytes.data(), size)), "m.onnx"), Error) << size;
}

TEST(ModelReader, RefusesGraphsNestedTooDeep) {
    const auto nested = [](int depth) {
        Message graph = test::graph({node("Relu", {"x"}, {"y"})});
        for (int i = 1; i < depth; ++i)
            graph = test::graph({node("If", {"c"}, {"y"}, {attribute("then_branch", graph)})});
        return parse_fault(test::model(graph));
    };
    EXPECT_EQ(nested(32), "parsed");
    EXPECT_THAT(nested(33), HasSubstr("messages are nested more than 32 deep"));
    EXPECT_THAT(nested(3000), HasSubstr("messages are nested more than 32 deep"));
}

TEST(OnnxFile, LeavesElementsInTheMapping) {
    const test::TempFolder folder;
    std::string raw(4 << 20, '\0');
    for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<char>(i * 7);
    Message graph = test::graph({node("Add", {"x", "w"}, {"y"})});
    graph.message(5, test::tensor("w", ElementType::f32, {1 << 20}, raw))
        .message(11, value("x", {"n"}))
        .message(12, value("y", {"n"}));
    const OnnxFile file(folder.write("m.onnx", test::model(graph).bytes()));
    const TensorProto& tensor = file.model().graph.initializers.at(0);
    EXPECT_EQ(tensor.owned, nullptr);
    ASSERT_EQ(tensor.data.size(), raw.size());
    EXPECT_EQ(std::memcmp(tensor.data.data(), raw.data(), raw.size()), 0);
    EXPECT_THAT(file.name(), HasSubstr("m.onnx"));
    EXPECT_THROW(OnnxFile(folder / "absent.onnx"), Error);
}

}  // namespace
}  // namespace cairn::onnx
