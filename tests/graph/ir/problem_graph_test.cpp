#include "graph/ir/problem_graph.hpp"

#include "cairn/composites.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/verify.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

namespace cairn::ir {
namespace {

std::string text_of(std::string_view problem, std::span<const Definition> definitions = {}) {
    const auto symbols = Symbols::create();
    const Graph graph = problem_graph(parse_problem(problem, *symbols), definitions);
    EXPECT_EQ(verify(*graph.data()), "");
    return to_string(graph);
}

TEST(ProblemGraph, AnAtomicOp) {
    EXPECT_EQ(text_of("matmul | f32[T,4] f32[4,8]! -> f32[T,8] where T in 2..12"),
              "graph matmul (T in 2..12)\n%0 = input \"in0\" : f32[T,4]\n%1 = input \"in1\" : f32[4,8]\n"
              "%2 = matmul %0, %1 : f32[T,8]\noutput \"out0\" %2\n");
    EXPECT_EQ(text_of("sum axes=(-1) | f32[3,4] -> f32[3,1]"),
              "graph sum\n%0 = input \"in0\" : f32[3,4]\n%1 = sum %0 axes=(-1) : f32[3,1]\noutput \"out0\" %1\n");
    EXPECT_EQ(text_of("iota length=(N) start=(3) dtype=(5) | -> i32[N] where N in 0..9"),
              "graph iota (N in 0..9)\n%0 = iota length=(N) start=(3) dtype=(5) : i32[N]\noutput \"out0\" %0\n");
}

TEST(ProblemGraph, ABody) {
    EXPECT_EQ(
        text_of("elementwise {2=add(0,1):f32 3=const(0.5):f32 4=mul(2,3):f32 5=lt(4,0):bool} | f32[2,4] f32[2,4]:(0,1) "
                "-> f32[2,4] "
                "bool[2,4] results (4,5)"),
        "graph elementwise\n%0 = input \"in0\" : f32[2,4]\n%1 = input \"in1\" : f32[2,4]\n%2 = add %0, %1 : f32[2,4]\n"
        "%3 = constant 0.5 : f32[]\n%4 = mul %2, %3 : f32[2,4]\n%5 = lt %4, %0 : bool[2,4]\noutput \"out0\" %4\noutput "
        "\"out1\" %5\n");
    EXPECT_EQ(text_of("elementwise {1=cast(0):f16} | f32[2] -> f16[2] results (1)"),
              "graph elementwise\n%0 = input \"in0\" : f32[2]\n%1 = cast %0 dtype=(2) : f16[2]\noutput \"out0\" %1\n");
}

TEST(ProblemGraph, SomeColumnsOfAProduct) {
    EXPECT_EQ(text_of("fused columns=(0,2) {2=matmul(0,1):f32 3=neg(2):f32} | f32[T,4] f32[4,8]! -> f32[T,8] "
                      "f32[T,3,2] results (3,2) where T in 2..12"),
              "graph fused (T in 2..12)\n%0 = input \"in0\" : f32[T,4]\n%1 = input \"in1\" : f32[4,8]\n"
              "%2 = matmul %0, %1 : f32[T,8]\n%3 = neg %2 : f32[T,8]\n"
              "%4 = slice %3 axis=(-1) start=(0) stop=(8) step=(1) : f32[T,8]\n"
              "%5 = reshape %4 shape=(T,8) : f32[T,8]\n"
              "%6 = slice %2 axis=(-1) start=(2) stop=(8) step=(1) : f32[T,6]\n"
              "%7 = reshape %6 shape=(T,3,2) : f32[T,3,2]\noutput \"out0\" %5\noutput \"out1\" %7\n");
}

TEST(ProblemGraph, PackIsTheIdentity) {
    EXPECT_EQ(text_of("pack | f32[4,8] -> f32[4,8]@panel32"),
              "graph pack\n%0 = input \"in0\" : f32[4,8]\noutput \"out0\" %0\n");
}

TEST(ProblemGraph, StateChangesBecomeConcatAndSlices) {
    EXPECT_EQ(text_of("state_append | f32[2,P,4] f32[2,3,4] -> f32[2,3 + P,4] where P in 0..9"),
              "graph state_append (P in 0..9)\n%0 = input \"in0\" : f32[2,P,4]\n%1 = input \"in1\" : f32[2,3,4]\n"
              "%2 = concat %0, %1 axis=(-2) : f32[2,3 + P,4]\noutput \"out0\" %2\n");
    const std::string write = text_of("state_write start=(2) | f32[8] f32[3] -> f32[8]");
    const std::string block =
        text_of("state_write start=(0,1,P) | f32[2,4,P+3] f32[2,2,3] -> f32[2,4,P+3] where P in 0..9");
    EXPECT_EQ(std::count(block.begin(), block.end(), '\n'), 12) << "a concat an axis: " << block;
    EXPECT_NE(write.find("concat"), std::string::npos);
    EXPECT_NE(write.find(": f32[8]\noutput"), std::string::npos);
    EXPECT_EQ(text_of("state_write start=(0) | f32[8] f32[8] -> f32[8]"),
              "graph state_write\n%0 = input \"in0\" : f32[8]\n%1 = input \"in1\" : f32[8]\noutput \"out0\" %1\n");
}

TEST(ProblemGraph, ADefinition) {
    const std::vector<Definition> definitions = {{"rms_norm",
                                                  [](std::span<const Tensor> in, const Attributes& attributes) {
                                                      return std::vector<Tensor>{
                                                          rms_norm(in[0], in[1], attributes.number("eps"))};
                                                  },
                                                  {}}};
    const std::string text = text_of("rms_norm eps=0.5 | f32[R,4] f32[4] -> f32[R,4] where R in 1..9", definitions);
    EXPECT_NE(text.find("constant 0.5"), std::string::npos);
    EXPECT_NE(text.find("output \"out0\""), std::string::npos);
}

std::string fault(std::string_view problem) {
    try {
        text_of(problem);
    } catch (const Error& error) { return error.what(); }
    return "";
}

TEST(ProblemGraph, RefusesUnknownProblems) {
    EXPECT_EQ(fault("softmax | f32[4] -> f32[4]"),
              "[problem] there is no definition 'softmax': softmax | f32[4] -> f32[4]");
    EXPECT_NE(fault("input | f32[4] -> f32[4]"), "");
    EXPECT_NE(fault("neg | -> f32[4]"), "");
    EXPECT_NE(fault("elementwise {1=matmul(0,0):f32} | f32[4,4] -> f32[4,4] results (1)"), "");
    EXPECT_NE(fault("elementwise {1=neg(7):f32} | f32[4] -> f32[4] results (1)"), "");
    EXPECT_NE(fault("elementwise {1=neg(0):f64} | f32[4] -> f64[4] results (1)"), "");
    for (const char* bad : {"columns=(9) {2=matmul(0,1):f32} | f32[4,4] f32[4,8] -> f32[4,2]",
                            "columns=(-1) {2=matmul(0,1):f32} | f32[4,4] f32[4,8] -> f32[4,2]",
                            "columns=(7) {2=matmul(0,1):f32} | f32[4,4] f32[4,8] -> f32[4,2]",
                            "columns=(0) {2=matmul(0,1):f32} | f32[4,4] f32[4,8] -> f32[2,4]",
                            "columns=(0) {2=matmul(0,1):f32} | f32[4,4] f32[4,8] -> f32[4]",
                            "columns=0 {2=matmul(0,1):f32} | f32[4,4] f32[4,8] -> f32[4,2]",
                            "columns=(0,1) {2=matmul(0,1):f32} | f32[4,4] f32[4,8] -> f32[4,2]"})
        EXPECT_NE(fault(std::string("fused ") + bad + " results (2)"), "") << bad;
    EXPECT_NE(fault("elementwise columns=(0) {1=neg(0):f32} | f32[] -> f32[] results (1)"), "");
    EXPECT_NE(fault("sum | f32[4] -> f32[1]"), "");
    EXPECT_NE(fault("sum axes=2 | f32[4] -> f32[1]"), "");
}

// Each node of random graphs is equal to the node that apply() builds from its name and attributes.
TEST(ProblemGraph, ApplyRebuildsEveryNode) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const Graph graph = test::random_graph(seed);
        const auto count = static_cast<NodeId>(graph.size());
        for (NodeId id = 0; id < count; ++id) {
            const Node node = graph.data()->node(id);
            if (node.operands.empty()) continue;
            std::vector<Tensor> operands;
            for (const NodeId operand : node.operands) operands.emplace_back(graph.data(), operand);
            ASSERT_EQ(apply(info(node.op).name, operands, node.attributes).id(), id) << to_string(graph);
        }
    }
}

TEST(ProblemGraph, ApplyRefusesUnknownNamesAndWrongOperands) {
    Graph g, h;
    const Tensor x = g.input("x", DType::f32, {4}), y = h.input("y", DType::f32, {4});
    EXPECT_THROW(apply("nothing", std::vector{x}, {}), Error);
    EXPECT_THROW(apply("neg", {}, {}), Error);
    EXPECT_THROW(apply("add", std::vector{x, y}, {}), Error);
    EXPECT_THROW(apply("add", std::vector{x, Tensor()}, {}), Error);
    EXPECT_THROW(apply("input", std::vector{x}, {}), Error);
}

}  // namespace
}  // namespace cairn::ir
