#include "cairn/onnx/import.hpp"
#include "cairn/compile.hpp"
#include "cairn/context.hpp"
#include "cairn/ports.hpp"
#include "tests/io/onnx_file/onnx_bytes.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace cairn::test {
namespace {

using onnx::ElementType;
using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::SizeIs;

/// A file in a folder of its own.
class ModelOnDisk {
public:
    explicit ModelOnDisk(const Message& bytes) : model(onnx::Model::open(folder_.write("m.onnx", bytes.bytes()))) {}

private:
    TempFolder folder_;

public:
    onnx::Model model;
};

std::string raw_floats(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::string raw_integers(const std::vector<std::int64_t>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t)};
}

Message integers(std::string_view name, const std::vector<std::int64_t>& values) {
    return tensor(name, ElementType::i64, {static_cast<std::int64_t>(values.size())}, raw_integers(values));
}

/// ValueInfoProto of a tensor of a type.
Message typed_value(std::string_view name, ElementType type, const std::vector<std::int64_t>& dims) {
    Message shape;
    for (const std::int64_t dim : dims) shape.message(1, Message().number(1, dim));
    return Message().text(1, name).message(
        2, Message().message(1, Message().number(1, static_cast<int>(type)).message(2, shape)));
}

struct GraphParts {
    std::vector<Message> nodes, inputs, outputs, initializers;
};

Message graph_of_parts(const GraphParts& parts) {
    Message made;
    for (const Message& node : parts.nodes) made.message(1, node);
    for (const Message& initializer : parts.initializers) made.message(5, initializer);
    for (const Message& input : parts.inputs) made.message(11, input);
    for (const Message& output : parts.outputs) made.message(12, output);
    return made;
}

Message model_of(const GraphParts& parts, std::int64_t opset = 17) {
    return Message().number(1, 8).message(7, graph_of_parts(parts)).message(8, Message().number(2, opset));
}

std::vector<std::string> types_of(const Graph& graph, GraphPort::Kind kind) {
    std::vector<std::string> types;
    for (const GraphPort& port : ports(graph))
        if (port.kind == kind) types.push_back(port.name + " " + to_string(port.dtype, port.shape));
    return types;
}

std::string fault_of(const onnx::Model& model, const onnx::ImportOptions& options = {}) {
    try {
        onnx::import(model, options);
    } catch (const Error& error) { return error.what(); }
    return "imported";
}

std::vector<float> run_on(const onnx::Imported& imported, const std::vector<float>& x,
                          const std::vector<std::int64_t>& shape, const std::string& output = "y") {
    CompiledGraph model = compile(imported.graph, Context());
    model.bind(imported.weights);
    model.set("x", x, shape);
    model.run();
    const auto y = model.output(output).as<float>();
    return {y.begin(), y.end()};
}

TEST(OnnxImport, NamedSizesAreSymbols) {
    const ModelOnDisk file(model_of({{node("Relu", {"x"}, {"y"}), node("Neg", {"z"}, {"w"})},
                                     {value("x", {"N", "p.dim.0", "3"}), value("z", {"N", "min"})},
                                     {value("y", {}), value("w", {})},
                                     {}}));
    const onnx::Imported imported = onnx::import(file.model, {.sizes = {{"N", {2, 8}}}});
    EXPECT_THAT(types_of(imported.graph, GraphPort::Kind::input), ElementsAre("x f32[N,p_dim_0,3]", "z f32[N,min_]"));
    const auto symbols = imported.graph.symbols().list();
    ASSERT_THAT(symbols, SizeIs(3));
    EXPECT_EQ(symbols[0].low, 2);
    EXPECT_EQ(symbols[0].high, 8);
    EXPECT_EQ(symbols[1].low, 1);
    EXPECT_EQ(symbols[1].high, 4096);
    EXPECT_THAT(imported.symbol_names, ElementsAre(std::pair<const std::string, std::string>("min_", "min"),
                                                   std::pair<const std::string, std::string>("p_dim_0", "p.dim.0")));
    const onnx::Imported fixed = onnx::import(file.model, {.sizes = {{"N", {1, 1}}, {"p.dim.0", {5, 5}}}});
    EXPECT_THAT(types_of(fixed.graph, GraphPort::Kind::output), ElementsAre("y f32[1,5,3]", "w f32[1,min_]"));
    const onnx::Imported stepped = onnx::import(file.model, {.sizes = {{"N", {5, 100, 32}}, {"min", {9, 20, 10}}}});
    EXPECT_THAT(types_of(stepped.graph, GraphPort::Kind::output),
                ElementsAre("y f32[32*N_by_32,p_dim_0,3]", "w f32[32*N_by_32,10*min_by_10]"));
    EXPECT_EQ(stepped.graph.symbols().list()[0].high, 3);
    EXPECT_EQ(fault_of(file.model, {.sizes = {{"N", {33, 63, 32}}}}),
              "[onnx] the size 'N' cannot be a multiple of 32 from 33 to 63");
    EXPECT_EQ(fault_of(file.model, {.sizes = {{"N", {1, 2, 0}}}}),
              "[onnx] the size 'N' cannot be a multiple of 0 from 1 to 2");
    const onnx::Imported equal = onnx::import(file.model, {.equal_sizes = {{"min", "N"}}});
    EXPECT_THAT(types_of(equal.graph, GraphPort::Kind::output), ElementsAre("y f32[N,p_dim_0,3]", "w f32[N,N]"));
    EXPECT_THAT(fault_of(file.model, {.equal_sizes = {{"min", "M"}}}), HasSubstr("the inputs have no size 'M'"));
    EXPECT_THAT(fault_of(file.model, {.equal_sizes = {{"min", "N"}, {"N", "min"}}}),
                HasSubstr("the size 'N' is 'min'"));
    EXPECT_EQ(fault_of(file.model, {.sizes = {{"M", {1, 2}}}}),
              "[onnx] the inputs have no size 'M'; they have 'N', 'min', 'p.dim.0'");
    EXPECT_EQ(fault_of(file.model, {.sizes = {{"N", {3, 2}}}}),
              "[onnx] the size 'N' cannot be a multiple of 1 from 3 to 2");
}

TEST(OnnxImport, SizesWithoutANameGetOne) {
    const Message shape = Message().message(1, Message()).message(1, Message().number(1, -1));
    const Message x =
        Message().text(1, "in 0").message(2, Message().message(1, Message().number(1, 1).message(2, shape)));
    const ModelOnDisk file(model_of({{node("Relu", {"in 0"}, {"y"})}, {x}, {value("y", {})}, {}}));
    const onnx::Imported imported = onnx::import(file.model, {.sizes = {{"in 0_1", {4, 4}}}});
    EXPECT_THAT(types_of(imported.graph, GraphPort::Kind::input), ElementsAre("in 0 f32[in_0_0,4]"));
    // Names that stand for any size.
    const ModelOnDisk unnamed(
        model_of({{node("Relu", {"x"}, {"y"})}, {value("x", {"?", "?", "None"})}, {value("y", {})}, {}}));
    EXPECT_THAT(types_of(onnx::import(unnamed.model).graph, GraphPort::Kind::input), ElementsAre("x f32[x_0,x_1,x_2]"));
}

// The usual way of exporters to flatten all axes but the first.
TEST(OnnxImport, ArithmeticOnShapesIsDoneAtImport) {
    const ModelOnDisk file(model_of(
        {{node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"n"}), node("Unsqueeze", {"n", "axes"}, {"n1"}),
          node("Concat", {"n1", "rest"}, {"shape"}, {attribute("axis", 0)}), node("Reshape", {"x", "shape"}, {"y"})},
         {value("x", {"N", "3", "4"})},
         {value("y", {})},
         {tensor("zero", ElementType::i64, {}, raw_integers({0})), integers("axes", {0}), integers("rest", {-1})}}));
    const onnx::Imported imported = onnx::import(file.model);
    EXPECT_THAT(types_of(imported.graph, GraphPort::Kind::output), ElementsAre("y f32[N,12]"));
    EXPECT_EQ(imported.graph.size(), 2U) << to_string(imported.graph);
}

TEST(OnnxImport, EverythingThatCannotBeImportedIsTold) {
    const ModelOnDisk file(
        model_of({{node("Relu", {"x"}, {"a"}), node("Grow", {"a"}, {"b"}).text(3, "first"), node("Grow", {"a"}, {"c"}),
                   node("Add", {"b", "c"}, {"d"}), node("Concat", {"x", "x"}, {"e"}, {attribute("axis", 7)}),
                   node("Sum", {"d", "e"}, {"y"})},
                  {value("x", {"2"}), typed_value("t", ElementType::string, {1})},
                  {value("y", {})},
                  {}}));
    try {
        onnx::import(file.model);
        FAIL() << "it was imported";
    } catch (const onnx::ImportError& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        ASSERT_THAT(error.unsupported(), SizeIs(3));
        const onnx::Unsupported &input = error.unsupported()[0], &grow = error.unsupported()[1];
        EXPECT_EQ(input.node + ": " + input.reason, "t: the input is of STRING, for which there is no dtype");
        EXPECT_EQ(grow.op, "Grow");
        EXPECT_EQ(grow.opset, 17);
        EXPECT_EQ(grow.node, "first");
        EXPECT_EQ(grow.count, 2);
        EXPECT_EQ(grow.reason, "there is no such operator here");
        EXPECT_EQ(error.unsupported()[2].node, "#4");
        EXPECT_THAT(error.what(), HasSubstr("Grow-17 'first' (2 nodes): there is no such operator here"));
        EXPECT_THAT(error.what(), HasSubstr("axis 7 is outside a tensor of rank 1"));
    }
}

TEST(OnnxImport, OperatorSetsOutsideTheRangeAreRefused) {
    const GraphParts parts{{node("Relu", {"x"}, {"y"})}, {value("x", {"2"})}, {value("y", {})}, {}};
    EXPECT_THAT(fault_of(ModelOnDisk(model_of(parts, 6)).model), HasSubstr("its operator set is 6"));
    EXPECT_THAT(fault_of(ModelOnDisk(model_of(parts, 29)).model), HasSubstr("its operator set is 29"));
    EXPECT_EQ(fault_of(ModelOnDisk(model_of(parts, 7)).model), "imported");
    EXPECT_EQ(fault_of(ModelOnDisk(model_of(parts, 28)).model), "imported");
}

// Files of IR version 3 list initializers as inputs.
TEST(OnnxImport, InitializersThatAreInputsAreConstants) {
    const ModelOnDisk file(model_of({{node("Add", {"x", "w"}, {"y"})},
                                     {value("x", {"2"}), value("w", {"2"})},
                                     {value("y", {})},
                                     {tensor("w", ElementType::f32, {2}, raw_floats({3, 4}))}}));
    ASSERT_THAT(file.model.inputs(), SizeIs(1));
    const onnx::Imported imported = onnx::import(file.model);
    EXPECT_THAT(types_of(imported.graph, GraphPort::Kind::weight), ElementsAre("w f32[2]"));
    EXPECT_THAT(run_on(imported, {1, 1}, {2}), ElementsAre(4, 5));
}

TEST(OnnxImport, WeightsAreViewsOfTheFile) {
    const std::vector<float> elements(1000, 2.0F);
    int views = 0;
    for (int i = 0; i < 4; ++i) {
        const ModelOnDisk file(
            model_of({{node("Mul", {"x", "w"}, {"y"}).text(6, std::string(static_cast<std::size_t>(i), 'p'))},
                      {value("x", {"1000"})},
                      {value("y", {})},
                      {tensor("w", ElementType::f32, {1000}, raw_floats(elements))}}));
        const onnx::Imported imported = onnx::import(file.model);
        const InputView first = imported.weights("w"), second = imported.weights("w");
        EXPECT_EQ(std::memcmp(first.data, elements.data(), elements.size() * sizeof(float)), 0);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data) % sizeof(float), 0U);
        views += first.data == second.data ? 1 : 0;  // copies are apart
        for (const InputView& view : {first, second}) view.release(view.owner);
        EXPECT_THROW(imported.weights("v"), Error);
    }
    EXPECT_EQ(views, 1);
}

TEST(OnnxImport, ValuesFixInputs) {
    const Message then_branch = graph_of_parts({{node("Neg", {"x"}, {"t"})}, {}, {value("t", {})}, {}}),
                  else_branch = graph_of_parts({{node("Grow", {"x"}, {"e"})}, {}, {value("e", {})}, {}});
    const ModelOnDisk file(
        model_of({{node("Equal", {"rate", "wide"}, {"is_wide"}),
                   node("If", {"is_wide"}, {"y"},
                        {attribute("then_branch", then_branch), attribute("else_branch", else_branch)})},
                  {value("x", {"2"}), typed_value("rate", ElementType::i64, {})},
                  {value("y", {})},
                  {tensor("wide", ElementType::i64, {}, raw_integers({16000}))}}));
    EXPECT_THAT(fault_of(file.model), HasSubstr("Grow-17"));
    const std::int64_t wide = 16000, narrow = 8000;
    const auto rate = [](const std::int64_t& value) { return InputView{.data = &value, .dtype = DType::i64}; };
    const onnx::Imported imported = onnx::import(file.model, {.values = {{"rate", rate(wide)}}});
    EXPECT_THAT(types_of(imported.graph, GraphPort::Kind::input), ElementsAre("x f32[2]"));
    EXPECT_THAT(run_on(imported, {1, -2}, {2}), ElementsAre(-1, 2));
    EXPECT_THAT(fault_of(file.model, {.values = {{"rate", rate(narrow)}}}), HasSubstr("Grow-17"));
    EXPECT_EQ(fault_of(file.model, {.values = {{"speed", rate(wide)}}}), "[onnx] the model has no input 'speed'");
    InputView wrong = rate(wide);
    wrong.dtype = DType::i32;
    EXPECT_EQ(fault_of(file.model, {.values = {{"rate", wrong}}}),
              "[onnx] the value of the input 'rate' is i32, the input is of INT64");
    wrong = rate(wide);
    wrong.shape = {1};
    EXPECT_EQ(fault_of(file.model, {.values = {{"rate", wrong}}}),
              "[onnx] the value of the input 'rate' has the shape [1]");
}

/// FunctionProto.
Message function_of(std::string_view name, const std::vector<Message>& nodes) {
    Message made = Message().text(1, name).texts(4, {"a"}).texts(5, {"b"}).texts(6, {"slope"});
    for (const Message& node : nodes) made.message(7, node);
    return made.message(9, Message().number(2, 17)).message(9, Message().text(1, "own").number(2, 1)).text(10, "own");
}

TEST(OnnxImport, FunctionsAreInlined) {
    const Message reference = Message().text(1, "alpha").text(21, "slope").number(20, 1);
    const auto calls = [&](const std::vector<Message>& functions) {
        const Message slope = Message().text(1, "slope").float32(2, 0.5F).number(20, 1);
        Message model = Message().number(1, 8).message(
            7, graph_of_parts(
                   {{node("Leak", {"x"}, {"h"}, {slope}).text(7, "own"), node("Leak", {"h"}, {"y"}).text(7, "own")},
                    {value("x", {"3"})},
                    {value("y", {})},
                    {}}));
        model.message(8, Message().number(2, 17)).message(8, Message().text(1, "own").number(2, 1));
        for (const Message& function : functions) model.message(25, function);
        return model;
    };
    // The second call has no slope, so that the operator's own counts: 0.01.
    const ModelOnDisk file(calls({function_of("Leak", {node("LeakyRelu", {"a"}, {"b"}, {reference})})}));
    EXPECT_THAT(run_on(onnx::import(file.model), {2, -4, 0}, {3}),
                ElementsAre(2, testing::FloatNear(-0.02F, 1e-7F), 0));
    const ModelOnDisk endless(calls({function_of("Leak", {node("Leak", {"a"}, {"b"}).text(7, "own")})}));
    EXPECT_THAT(fault_of(endless.model), HasSubstr("functions call one another without end"));
    EXPECT_THAT(fault_of(ModelOnDisk(calls({})).model), HasSubstr("own.Leak-1"));
}

TEST(OnnxImport, NodesNameTheirResults) {
    const ModelOnDisk file(model_of({{node("Relu", {"x"}, {"/layer.0/act"}), node("Identity", {"x"}, {"same"}),
                                      node("Add", {"/layer.0/act", "same"}, {"y"})},
                                     {value("x", {"2"})},
                                     {value("y", {})},
                                     {}}));
    EXPECT_THAT(to_string(onnx::import(file.model).graph), HasSubstr("/layer.0/act"));
}

}  // namespace
}  // namespace cairn::test
