#include "io/onnx_file/resolve_names.hpp"
#include "tests/io/onnx_file/onnx_bytes.hpp"

#include "cairn/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::onnx {
namespace {

using test::Message, test::attribute, test::node, test::value;
using testing::ElementsAre, testing::HasSubstr;

Message graph_of(const std::vector<Message>& nodes, const std::string& output = "y", const std::string& input = "x") {
    return test::graph(nodes, output, input);
}

/// The operators in their order; or the fault.
std::vector<std::string> resolved(const Message& graph) {
    const Message bytes = test::model(graph);
    ModelProto model = parse_model(bytes.span(), "m.onnx");
    try {
        resolve_names(model, "m.onnx");
    } catch (const Error& error) { return {error.what()}; }
    std::vector<std::string> ops;
    for (const NodeProto& each : model.graph.nodes) ops.push_back(each.op);
    return ops;
}
std::string names_fault(const Message& graph) {
    const std::vector<std::string> found = resolved(graph);
    return found.size() == 1 ? found[0] : "resolved";
}

TEST(ResolveNames, PutsNodesInOrder) {
    EXPECT_THAT(resolved(graph_of({node("A", {"x"}, {"a"}), node("B", {"a", ""}, {"y"})})), ElementsAre("A", "B"));
    EXPECT_THAT(resolved(graph_of(
                    {node("C", {"b"}, {"y"}), node("A", {"x"}, {"a"}), node("D", {}, {"d"}), node("B", {"a"}, {"b"})})),
                ElementsAre("A", "B", "C", "D"));
    const Message branch = graph_of({node("Inner", {"late"}, {"r"})}, "r", "");
    EXPECT_THAT(resolved(graph_of(
                    {node("If", {"x"}, {"y"}, {attribute("then_branch", branch)}), node("Late", {"x"}, {"late"})})),
                ElementsAre("Late", "If"))
        << "a nested graph reads a value of the outer one";
}

TEST(ResolveNames, ListsAllFaults) {
    EXPECT_EQ(names_fault(graph_of({node("A", {"p"}, {"a"}), node("B", {"q"}, {"a"}).text(3, "second")}, "z")),
              "[onnx] m.onnx: node 1 (B 'second'): output 'a' has the name of another value; node 0 (A) reads 'p', "
              "which nothing "
              "defines; node 1 (B 'second') reads 'q', which nothing defines; no node computes the output 'z'");
    EXPECT_THAT(names_fault(graph_of({node("A", {"x"}, {"x"})}, "x")),
                HasSubstr("output 'x' has the name of another value"));
    EXPECT_THAT(names_fault(graph_of({node("A", {"b"}, {"a"}), node("B", {"a"}, {"b"})}, "b")),
                HasSubstr("is in a cycle of nodes"));
    EXPECT_THAT(names_fault(graph_of({node("A", {"a"}, {"a"})}, "a")), HasSubstr("node 0 (A) is in a cycle of nodes"));
}

TEST(ResolveNames, InitializersMayBeInputsToo) {
    Message graph = graph_of({node("Add", {"x", "w"}, {"y"}), node("Nop", {}, {"n"})});
    graph.message(11, value("w", {"1"})).message(5, test::tensor("w", ElementType::f32, {1}, "1234"));
    EXPECT_THAT(resolved(graph), ElementsAre("Add", "Nop"));
    graph.message(5, test::tensor("w", ElementType::f32, {1}, "1234"));
    EXPECT_THAT(names_fault(graph), HasSubstr("two initializers are called 'w'"));
}

TEST(ResolveNames, NestedGraphsSeeThoseAroundThem) {
    const auto with_branch = [](const Message& branch) {
        return graph_of({node("If", {"x"}, {"y"}, {attribute("then_branch", branch)}), node("Nop", {}, {"n"})});
    };
    EXPECT_THAT(resolved(with_branch(graph_of({node("A", {"x"}, {"r"})}, "r", ""))), ElementsAre("If", "Nop"));
    EXPECT_THAT(resolved(with_branch(graph_of({}, "x", ""))), ElementsAre("If", "Nop"))
        << "an output may be an outer value";
    EXPECT_THAT(names_fault(with_branch(graph_of({node("A", {"q"}, {"r"})}, "r", ""))),
                HasSubstr("node 0 (If), 'then_branch': node 0 (A) reads 'q', which nothing defines"));
    EXPECT_THAT(names_fault(with_branch(graph_of({node("A", {"x"}, {"n"})}, "n", ""))),
                HasSubstr("has the name of a value of the graph around it"));
    EXPECT_THAT(names_fault(graph_of({node("A", {"r"}, {"y"}),
                                      node("If", {"x"}, {"z"},
                                           {attribute("then_branch", graph_of({node("A", {"x"}, {"r"})}, "r", ""))})})),
                HasSubstr("reads 'r', which nothing defines"))
        << "values of a nested graph are its own";
}

TEST(ResolveNames, FunctionsAreGraphsOfTheirOwn) {
    const auto with_function = [](const Message& function) {
        Message bytes = test::model(graph_of({node("f", {"x"}, {"y"})}));
        bytes.message(25, function);
        ModelProto model = parse_model(bytes.span(), "m.onnx");
        try {
            resolve_names(model, "m.onnx");
        } catch (const Error& error) { return std::string(error.what()); }
        return model.functions[0].nodes[0].op;
    };
    EXPECT_EQ(with_function(Message()
                                .text(1, "f")
                                .texts(4, {"a"})
                                .texts(5, {"b"})
                                .message(7, node("Late", {"c"}, {"b"}))
                                .message(7, node("Early", {"a"}, {"c"}))),
              "Early");
    EXPECT_THAT(with_function(Message().text(1, "f").texts(5, {"b"}).message(7, node("Relu", {"x"}, {"b"}))),
                HasSubstr("function 'f': node 0 (Relu) reads 'x'"));
    EXPECT_THAT(with_function(Message().text(1, "f").texts(5, {"z"}).message(7, node("Relu", {}, {"b"}))),
                HasSubstr("function 'f': no node computes the output 'z'"));
}

}  // namespace
}  // namespace cairn::onnx
