#include "graph/interpreter/interpreter.hpp"

#include "cairn/ops.hpp"
#include "graph/ir/op_table.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <sstream>

namespace cairn::interpreter {

using namespace ir;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

/// A graph in text form without header and output lines; its last node has these elements. `x`, `w` and `k` are bound
/// to 1, 2, 3, 4.
struct OpCase {
    const char* text;
    std::vector<std::int64_t> shape;
    std::vector<double> elements;
};

// At least one hand-computed case per op.
const OpCase cases[] = {
    {"%0 = input \"x\" : f32[2,2]", {2, 2}, {1, 2, 3, 4}},
    {"%0 = weight \"w\" : f32[4]", {4}, {1, 2, 3, 4}},
    {"%0 = constant {1.5, -2} : f32[2]", {2}, {1.5, -2}},
    {"%0 = state_read \"k\" axis=(-1) capacity=(6) : f32[L]", {4}, {1, 2, 3, 4}},
    {"%0 = constant {1, -2} : f32[2]\n%1 = neg %0 : f32[2]", {2}, {-1, 2}},
    {"%0 = constant {-128, 3} : i8[2]\n%1 = neg %0 : i8[2]", {2}, {-128, -3}},
    {"%0 = constant {1, 0} : u8[2]\n%1 = neg %0 : u8[2]", {2}, {255, 0}},
    {"%0 = constant {1, -2} : f32[2]\n%1 = abs %0 : f32[2]", {2}, {1, 2}},
    {"%0 = constant {-128, -3} : i8[2]\n%1 = abs %0 : i8[2]", {2}, {-128, 3}},
    {"%0 = constant {0, 1} : f64[2]\n%1 = exp %0 : f64[2]", {2}, {1, 2.718281828459045}},
    {"%0 = constant {1, 0, -1} : f64[3]\n%1 = log %0 : f64[3]", {3}, {0, -inf, nan}},
    {"%0 = constant {4, 2} : f64[2]\n%1 = sqrt %0 : f64[2]", {2}, {2, 1.4142135623730951}},
    {"%0 = constant {4, 0} : f64[2]\n%1 = rsqrt %0 : f64[2]", {2}, {0.5, inf}},
    {"%0 = constant {0, 1.5707963267948966} : f64[2]\n%1 = sin %0 : f64[2]", {2}, {0, 1}},
    {"%0 = constant {0, 3.141592653589793} : f64[2]\n%1 = cos %0 : f64[2]", {2}, {1, -1}},
    {"%0 = constant {0, 0.5} : f64[2]\n%1 = tanh %0 : f64[2]", {2}, {0, 0.46211715726000973}},
    {"%0 = constant {0, 0.5} : f64[2]\n%1 = erf %0 : f64[2]", {2}, {0, 0.5204998778130465}},
    {"%0 = constant {1.5, -1.5} : f64[2]\n%1 = floor %0 : f64[2]", {2}, {1, -2}},
    {"%0 = constant {1.01, 3.4e+38} : f32[2]\n%1 = cast %0 dtype=(3) : bf16[2]", {2}, {1.0078125, 0x1.0p128}},
    {"%0 = constant {2049, 1e-08, 65520} : f64[3]\n%1 = cast %0 dtype=(2) : f16[3]", {3}, {2048, 0, inf}},
    {"%0 = constant {-1.7, 300, nan, 1.9} : f32[4]\n%1 = cast %0 dtype=(6) : i8[4]", {4}, {-1, 127, 0, 1}},
    {"%0 = constant {-5, 300} : i32[2]\n%1 = cast %0 dtype=(7) : u8[2]", {2}, {0, 255}},
    {"%0 = constant {0, -0.25, nan} : f32[3]\n%1 = cast %0 dtype=(8) : bool[3]", {3}, {0, 1, 1}},
    {"%0 = constant {1, 0} : bool[2]\n%1 = cast %0 dtype=(1) : f32[2]", {2}, {1, 0}},
    {"%0 = constant 16777217 : i32[]\n%1 = cast %0 dtype=(1) : f32[]", {}, {16777216}},
    {"%0 = constant {1, 2} : f32[2]\n%1 = constant {{10}, {20}} : f32[2,1]\n%2 = add %0, %1 : f32[2,2]",
     {2, 2},
     {11, 12, 21, 22}},
    {"%0 = constant {127, 2} : i8[2]\n%1 = constant 1 : i8[]\n%2 = add %0, %1 : i8[2]", {2}, {-128, 3}},
    {"%0 = constant {1, 2} : f32[2]\n%1 = constant 5 : f32[]\n%2 = sub %1, %0 : f32[2]", {2}, {4, 3}},
    {"%0 = constant {0, 2} : u8[2]\n%1 = constant 1 : u8[]\n%2 = sub %0, %1 : u8[2]", {2}, {255, 1}},
    {"%0 = constant {1.5, 2} : f32[2]\n%1 = mul %0, %0 : f32[2]", {2}, {2.25, 4}},
    {"%0 = constant {65536, -3} : i32[2]\n%1 = mul %0, %0 : i32[2]", {2}, {0, 9}},
    {"%0 = constant {1, 0} : f32[2]\n%1 = constant {4, 0} : f32[2]\n%2 = div %0, %1 : f32[2]", {2}, {0.25, nan}},
    {"%0 = constant {-7, 7, 5, -128} : i8[4]\n%1 = constant {2, -2, 0, -1} : i8[4]\n%2 = div %0, %1 : i8[4]",
     {4},
     {-3, -3, 0, -128}},
    {"%0 = constant {1, nan, 3} : f32[3]\n%1 = constant {2, 0, -1} : f32[3]\n%2 = min %0, %1 : f32[3]",
     {3},
     {1, nan, -1}},
    {"%0 = constant {1, 0, 3} : f32[3]\n%1 = constant {2, nan, -1} : f32[3]\n%2 = max %0, %1 : f32[3]",
     {3},
     {2, nan, 3}},
    {"%0 = constant {2, 9} : f64[2]\n%1 = constant {10, 0.5} : f64[2]\n%2 = pow %0, %1 : f64[2]", {2}, {1024, 3}},
    {"%0 = constant {1, 2, nan} : f32[3]\n%1 = constant {1, 3, nan} : f32[3]\n%2 = eq %0, %1 : bool[3]",
     {3},
     {1, 0, 0}},
    {"%0 = constant {1, 2, nan} : f32[3]\n%1 = constant {1, 3, nan} : f32[3]\n%2 = ne %0, %1 : bool[3]",
     {3},
     {0, 1, 1}},
    {"%0 = constant {1, 2, 3} : i32[3]\n%1 = constant 2 : i32[]\n%2 = lt %0, %1 : bool[3]", {3}, {1, 0, 0}},
    {"%0 = constant {1, 2, nan} : f32[3]\n%1 = constant 2 : f32[]\n%2 = le %0, %1 : bool[3]", {3}, {1, 1, 0}},
    {"%0 = constant {1, 2, 3} : f32[3]\n%1 = constant 2 : f32[]\n%2 = gt %0, %1 : bool[3]", {3}, {0, 0, 1}},
    {"%0 = constant {1, 2, 3} : f32[3]\n%1 = constant 2 : f32[]\n%2 = ge %0, %1 : bool[3]", {3}, {0, 1, 1}},
    {"%0 = constant {0, 0, 1, 1} : bool[4]\n%1 = constant {0, 1, 0, 1} : bool[4]\n%2 = logical_and %0, %1 : bool[4]",
     {4},
     {0, 0, 0, 1}},
    {"%0 = constant {0, 0, 1, 1} : bool[4]\n%1 = constant {0, 1, 0, 1} : bool[4]\n%2 = logical_or %0, %1 : bool[4]",
     {4},
     {0, 1, 1, 1}},
    {"%0 = constant {0, 0, 1, 1} : bool[4]\n%1 = constant {0, 1, 0, 1} : bool[4]\n%2 = logical_xor %0, %1 : bool[4]",
     {4},
     {0, 1, 1, 0}},
    {"%0 = constant {0, 1} : bool[2]\n%1 = logical_not %0 : bool[2]", {2}, {1, 0}},
    {"%0 = constant {12, -1, -128, 7} : i8[4]\n%1 = constant {10, 5, -2, 0} : i8[4]\n%2 = bitwise_and %0, %1 : i8[4]",
     {4},
     {8, 5, -128, 0}},
    {"%0 = constant {1, 0} : bool[2]\n%1 = constant {{1}, {2}} : f32[2,1]\n%2 = constant -1 : f32[]\n%3 = where %0, "
     "%1, %2 : f32[2,2]",
     {2, 2},
     {1, -1, 2, -1}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = sum %0 axes=(-2) : f32[1,2]", {1, 2}, {4, 6}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = sum %0 axes=(-2,-1) : f32[1,1]", {1, 1}, {10}},
    {"%0 = constant {} : f32[2,0]\n%1 = sum %0 axes=(-1) : f32[2,1]", {2, 1}, {0, 0}},
    {"%0 = constant {127, 1} : i8[2]\n%1 = sum %0 axes=(-1) : i8[1]", {1}, {-128}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = prod %0 axes=(-2) : f32[1,2]", {1, 2}, {3, 8}},
    {"%0 = constant {} : f32[2,0]\n%1 = prod %0 axes=(-1) : f32[2,1]", {2, 1}, {1, 1}},
    {"%0 = constant {16, 9} : i8[2]\n%1 = prod %0 axes=(-1) : i8[1]", {1}, {-112}},
    {"%0 = constant {{0, inf}, {-2, nan}} : f32[2,2]\n%1 = prod %0 axes=(-1) : f32[2,1]", {2, 1}, {nan, nan}},
    {"%0 = constant {{1, 5}, {nan, 2}} : f32[2,2]\n%1 = max_reduce %0 axes=(-1) : f32[2,1]", {2, 1}, {5, nan}},
    {"%0 = constant {} : f32[1,0]\n%1 = max_reduce %0 axes=(-1) : f32[1,1]", {1, 1}, {-inf}},
    {"%0 = constant {} : i8[1,0]\n%1 = max_reduce %0 axes=(-1) : i8[1,1]", {1, 1}, {-128}},
    {"%0 = constant {{1, 5}, {3, 3}, {nan, 9}} : f32[3,2]\n%1 = argmax %0 axis=(-1) : i32[3,1]", {3, 1}, {1, 0, 0}},
    {"%0 = constant {{1, 5}, {3, 3}, {nan, 9}} : f32[3,2]\n%1 = argmax %0 axis=(-2) : i32[1,2]", {1, 2}, {2, 2}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = matmul %0, %0 : f32[2,2]", {2, 2}, {7, 10, 15, 22}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = constant {{{1}, {1}}, {{0}, {2}}} : f32[2,2,1]\n%2 = matmul %0, %1 : "
     "f32[2,2,1]",
     {2, 2, 1},
     {3, 7, 4, 8}},
    {"%0 = constant {16, 16} : i8[1,2]\n%1 = constant {8, 1} : i8[2,1]\n%2 = matmul %0, %1 : i8[1,1]", {1, 1}, {-112}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = reshape %0 shape=(4) : f32[4]", {4}, {1, 2, 3, 4}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = transpose %0 permutation=(-1,-2) : f32[2,2]", {2, 2}, {1, 3, 2, 4}},
    {"%0 = constant {{{1, 2, 3}, {4, 5, 6}}} : f32[1,2,3]\n%1 = transpose %0 permutation=(-1,-3,-2) : f32[3,1,2]",
     {3, 1, 2},
     {1, 4, 2, 5, 3, 6}},
    {"%0 = constant {1, 2} : f32[2,1]\n%1 = broadcast %0 shape=(2,2,2) : f32[2,2,2]",
     {2, 2, 2},
     {1, 1, 2, 2, 1, 1, 2, 2}},
    {"%0 = constant {0, 1, 2, 3, 4} : i32[5]\n%1 = slice %0 axis=(-1) start=(1) stop=(5) step=(2) : i32[2]",
     {2},
     {1, 3}},
    {"%0 = constant {{0, 1, 2}, {3, 4, 5}} : i32[2,3]\n%1 = slice %0 axis=(-2) start=(1) stop=(2) step=(1) : i32[1,3]",
     {1, 3},
     {3, 4, 5}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = pad %0 axis=(-1) before=(1) after=(0) value=0.5 : f32[2,3]",
     {2, 3},
     {0.5, 1, 2, 0.5, 3, 4}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = constant {8, 9} : f32[2,1]\n%2 = concat %1, %0 axis=(-1) : f32[2,3]",
     {2, 3},
     {8, 1, 2, 9, 3, 4}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = constant {1, 1, 0} : i64[3]\n%2 = gather %0, %1 axis=(-2) : f32[3,2]",
     {3, 2},
     {3, 4, 3, 4, 1, 2}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = constant {{1}, {0}} : i32[2,1]\n%2 = gather %0, %1 axis=(-1) : f32[2,2,1]",
     {2, 2, 1},
     {2, 1, 4, 3}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = constant {1, 1} : i32[2]\n%2 = constant {5, 6, 7, 8} : f32[2,2]\n%3 = scatter "
     "%0, %1, %2 axis=(-1) : f32[2,2]",
     {2, 2},
     {1, 6, 3, 8}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = constant {{1, 1, 0}, {0, 1, 0}} : i32[2,3]\n%2 = take_along_axis %0, %1 "
     "axis=(-1) : f32[2,3]",
     {2, 3},
     {2, 2, 1, 3, 4, 3}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = constant {{1, 0}} : i64[1,2]\n%2 = take_along_axis %0, %1 axis=(-2) : f32[1,2]",
     {1, 2},
     {3, 2}},
    {"%0 = constant {{1, 2, 3}, {-inf, inf, 1}} : f32[2,3]\n%1 = cumsum %0 axis=(-1) : f32[2,3]",
     {2, 3},
     {1, 3, 6, -inf, nan, nan}},
    {"%0 = constant {100, 27, 1} : i8[3]\n%1 = cumsum %0 axis=(-1) : i8[3]", {3}, {100, 127, -128}},
    {"%0 = constant {{2, 1}, {2, 0}} : f32[2,2]\n%1 = cumsum %0 axis=(-2) : f32[2,2]", {2, 2}, {2, 1, 4, 1}},
    {"%0 = constant {3, nan, 1, 3, -inf, 1} : f32[6]\n%1 = argsort %0 axis=(-1) descending=(0) : i32[6]",
     {6},
     {4, 2, 5, 0, 3, 1}},
    {"%0 = constant {3, nan, 1, 3, -inf, 1} : f32[6]\n%1 = argsort %0 axis=(-1) descending=(1) : i32[6]",
     {6},
     {1, 0, 3, 2, 5, 4}},
    {"%0 = constant {{0, 7}, {-5, 7}} : i64[2,2]\n%1 = argsort %0 axis=(-2) descending=(0) : i32[2,2]",
     {2, 2},
     {1, 0, 0, 1}},
    {"%0 = constant {1, -2} : f32[2]\n%1 = bitcast %0 dtype=(5) : i32[2]", {2}, {0x3f800000, -0x40000000}},
    {"%0 = constant {1, -2} : f32[2]\n%1 = bitcast %0 dtype=(7) : u8[2,4]", {2, 4}, {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}},
    {"%0 = constant {{0, 60, 1}, {0, 188, 2}} : u8[2,3]\n%1 = slice %0 axis=(-1) start=(0) stop=(2) step=(1) : "
     "u8[2,2]\n%2 = bitcast %1 dtype=(2) : f16[2]",
     {2},
     {1, -1}},
    {"%0 = constant {{-1, 2, 3, 4}, {5, 6, 7, -8}} : i8[2,4]\n%1 = bitcast %0 dtype=(5) : i32[2]",
     {2},
     {0x040302ff, -0x07f8f9fb}},
    {"%0 = constant {0.25} : f64[1]\n%1 = bitcast %0 dtype=(4) : i64[1]\n%2 = bitcast %1 dtype=(3) : bf16[1,4]",
     {1, 4},
     {0, 0, 0, 0x1.ap0}},
    {"%0 = iota length=(3) start=(L) dtype=(5) : i32[3]", {3}, {4, 5, 6}},
    {"%0 = iota length=(2) start=(2047) dtype=(2) : f16[2]", {2}, {2047, 2048}},
    {"%0 = iota length=(3) start=(254) dtype=(7) : u8[3]", {3}, {254, 255, 0}},
    {"%0 = constant {0, 1, 2, 3, 4, 5} : i32[6]\n%1 = window %0 axis=(-1) size=(2) stride=(2) dilation=(2) : i32[2,2]",
     {2, 2},
     {0, 2, 2, 4}},
    {"%0 = input \"x\" : f32[2,2]\n%1 = copy_to %0 device=(0) : f32[2,2]", {2, 2}, {1, 2, 3, 4}},
    {"%0 = state_read \"k\" axis=(-1) capacity=(6) : f32[L]\n%1 = constant {8, 9} : f32[2]\n%2 = state_append %0, %1 : "
     "f32[2 + L]",
     {6},
     {1, 2, 3, 4, 8, 9}},
    {"%0 = state_read \"k\" axis=(-1) capacity=(6) : f32[L]\n%1 = constant {8, 9} : f32[2]\n%2 = state_write %0, %1 "
     "start=(1) : f32[L]",
     {4},
     {1, 8, 9, 4}},
    {"%0 = state_read \"k\" : f32[4]\n%1 = constant {8, 9} : f32[2]\n%2 = state_write %0, %1 start=(2) : f32[4]",
     {4},
     {1, 2, 8, 9}},
    {"%0 = state_read \"x\" : f32[2,2]\n%1 = constant {{8}, {9}} : f32[2,1]\n%2 = state_write %0, %1 start=(0,1) : "
     "f32[2,2]",
     {2, 2},
     {1, 8, 3, 9}},
    {"%0 = state_read \"one\" : f32[]\n%1 = constant 8 : f32[]\n%2 = state_write %0, %1 start=() : f32[]", {}, {8}},
};

// Nested braces show rows; the text form is flat.
std::string flat(const std::string& text) {
    std::string result;
    int depth = 0;
    for (const char c : text) {
        if (c == '{' && depth++ > 0) continue;
        if (c == '}' && --depth > 0) continue;
        result += c;
    }
    return result;
}

Graph graph_of_case(const OpCase& test) {
    std::string text = "graph case (L in 3..6)\n" + flat(test.text) + "\n";
    const auto last = text.rfind("\n%") + 2;
    const std::string result = text.substr(last, text.find(' ', last) - last);
    text += "output \"y\" %" + result + "\n";
    if (const auto leaf = text.find("state_read "); leaf != std::string::npos)
        text += "state " + text.substr(leaf + 11, text.find(' ', leaf + 11) - leaf - 11) + " %" +
                (text.find(" %0, %1") == std::string::npos ? "0" : result) + "\n";
    return parse_graph(text);
}

Inputs inputs_of_case() {
    const double four[] = {1, 2, 3, 4};
    Inputs inputs;
    inputs.sizes = {{"L", 4}};
    inputs.tensors = {{"x", make_value(DType::f32, {2, 2}, four)},
                      {"w", make_value(DType::f32, {4}, four)},
                      {"one", make_value(DType::f32, {}, std::span(four, 1))},
                      {"k", make_value(DType::f32, {4}, four)}};
    return inputs;
}

TEST(Interpret, EveryOpGivesHandComputedValues) {
    std::set<Op> covered;
    for (const OpCase& test : cases) {
        SCOPED_TRACE(test.text);
        const Graph graph = graph_of_case(test);
        const Value value = interpret(*graph.data(), inputs_of_case()).outputs.at("y");
        const Node& node = graph.data()->node(graph.data()->outputs()[0].node);
        covered.insert(node.op);
        EXPECT_EQ(test::difference(value, make_value(node.dtype, test.shape, test.elements), 1e-15), "");
    }
    for (const OpInfo& row : op_table()) EXPECT_TRUE(covered.contains(row.op)) << "no case for " << row.name;
}

TEST(Interpret, StatesAreCommitted) {
    const Graph graph = parse_graph(
        "graph g (L in 3..6)\n%0 = state_read \"k\" axis=(-1) capacity=(6) : f32[L]\n%1 = constant {8, 9} : f32[2]\n"
        "%2 = state_append %0, %1 : f32[2 + L]\noutput \"before\" %0\nstate \"k\" %2\n");
    Inputs inputs = inputs_of_case();
    const Results results = interpret(*graph.data(), inputs);
    EXPECT_EQ(results.states.at("k").data, (std::vector<double>{1, 2, 3, 4, 8, 9}));
    EXPECT_EQ(results.outputs.at("before").data, (std::vector<double>{1, 2, 3, 4}));

    inputs.sizes["L"] = 5;
    const double five[] = {1, 2, 3, 4, 5};
    inputs.tensors["k"] = make_value(DType::f32, {5}, five);
    try {
        interpret(*graph.data(), inputs);
        FAIL() << "7 rows in a capacity of 6";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "[state_append] \"k\" would hold 7 rows, its capacity is 6");
        EXPECT_EQ(error.kind(), ErrorKind::argument);
    }
}

TEST(Interpret, IsExactForI64) {
    Graph g;
    Tensor x = g.input("x", DType::i64, {1});
    g.output("y", x + 1);
    Value value;
    value.dtype = DType::i64;
    value.shape = {1};
    value.integers = {std::numeric_limits<std::int64_t>::max() - 1};
    Inputs inputs;
    inputs.tensors.emplace("x", value);
    EXPECT_EQ(interpret(*g.data(), inputs).outputs.at("y").integers[0], std::numeric_limits<std::int64_t>::max());
    inputs.tensors.at("x").integers[0] += 1;
    EXPECT_EQ(interpret(*g.data(), inputs).outputs.at("y").integers[0], std::numeric_limits<std::int64_t>::min());
}

void expect_refusal(const GraphData& graph, const Inputs& inputs, const std::string& message) {
    try {
        interpret(graph, inputs);
        ADD_FAILURE() << "nothing thrown, expected " << message;
    } catch (const Error& error) {
        EXPECT_EQ(error.what(), message);
        EXPECT_EQ(error.kind(), ErrorKind::argument);
    }
}

TEST(Interpret, RefusesWrongInputs) {
    const Graph graph = parse_graph("graph g (L in 3..6)\n%0 = input \"x\" : f32[L]\noutput \"y\" %0\n");
    const double four[] = {1, 2, 3, 4};
    Inputs inputs;
    expect_refusal(*graph.data(), inputs, "[interpret] no value for the symbol L");
    inputs.sizes["L"] = 7;
    expect_refusal(*graph.data(), inputs, "[interpret] L = 7 is outside 3..6");
    inputs.sizes["L"] = 3;
    expect_refusal(*graph.data(), inputs, "[interpret] no value for input \"x\"");
    inputs.tensors["x"] = make_value(DType::f32, {4}, four);
    expect_refusal(*graph.data(), inputs, "[interpret] \"x\" must be f32[3], got f32[4]");
    inputs.tensors["x"].shape = {3};
    expect_refusal(*graph.data(), inputs, "[interpret] \"x\" f32[3] has 4 elements");
    EXPECT_THROW(make_value(DType::f32, {3}, four), Error);
}

TEST(Interpret, RefusesIndicesOutOfRange) {
    for (const char* op : {"gather %0, %1 axis=(-1) : f32[2]", "scatter %0, %1, %2 axis=(-1) : f32[4]"})
        for (const char* index : {"4", "-1"}) {
            const Graph graph =
                parse_graph(std::string("graph g\n%0 = weight \"w\" : f32[4]\n%1 = constant {0, ") + index +
                            "} : i32[2]\n%2 = constant {5, 6} : f32[2]\n%3 = " + op + "\noutput \"y\" %3\n");
            expect_refusal(*graph.data(), inputs_of_case(),
                           "[" + std::string(op, std::string(op).find(' ')) + "] index " + index + " is outside 0..3");
        }
}

TEST(Interpret, InteriorValuesAreAvailableByNode) {
    const Graph graph = parse_graph(
        "graph g\n%0 = weight \"w\" : f32[4]\n%1 = neg %0 : f32[4]\n%2 = abs %1 : f32[4]\noutput \"y\" %2\n");
    const std::vector<Value> values = interpret_nodes(*graph.data(), inputs_of_case());
    ASSERT_EQ(values.size(), 3U);
    EXPECT_EQ(values[1].data, (std::vector<double>{-1, -2, -3, -4}));
    EXPECT_EQ(values[2].data, values[0].data);
}

}  // namespace
}  // namespace cairn::interpreter
