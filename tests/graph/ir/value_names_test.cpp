#include "cairn/ops.hpp"
#include "graph/ir/graph_data.hpp"
#include "graph/ir/print.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace cairn::ir {
namespace {

using test::message;
using testing::HasSubstr;

TEST(ValueNames, AreKeptInTheGraphAndItsText) {
    Graph g("named");
    const Tensor x = g.input("x", DType::f32, {4});
    const Tensor y = name(exp(x), "scores");
    EXPECT_EQ(name_of(y), "scores");
    EXPECT_EQ(name_of(exp(x)), "scores") << "equal ops on equal operands are one value";
    EXPECT_EQ(name_of(x), "");
    EXPECT_EQ(name_of(Tensor()), "");
    g.output("y", y);
    EXPECT_EQ(to_string(g),
              "graph named\n%0 = input \"x\" : f32[4]\n%1 = exp %0 : f32[4] as \"scores\"\noutput \"y\" %1\n");
    const Graph back = parse_graph(to_string(g));
    EXPECT_EQ(to_string(back), to_string(g));
    EXPECT_EQ(back.data()->node(1).label, "scores");
    EXPECT_EQ(print(*g.data()).find("scores"), std::string::npos) << "what digests are made of";
}

TEST(ValueNames, ADuplicateNameGetsANumberAndTheLastNameApplies) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {4});
    EXPECT_EQ(name_of(name(exp(x), "a")), "a");
    EXPECT_EQ(name_of(name(log(x), "a")), "a 2");
    EXPECT_EQ(name_of(name(sin(x), "a")), "a 3");
    EXPECT_EQ(name_of(name(log(x), "a")), "a 2") << "it has it already";
    EXPECT_EQ(name_of(name(exp(x), "b")), "b");
    EXPECT_EQ(name_of(name(cos(x), "a")), "a") << "which is free again";
}

TEST(ValueNames, InvalidOnesAreRefused) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {4});
    EXPECT_THAT(message([&] { name(x, ""); }),
                testing::StartsWith("[name] the name of a value is empty (value_names_test.cpp:"));
    EXPECT_THAT(message([&] { name(x, "a\nb"); }), HasSubstr("holds a control character"));
    EXPECT_THAT(message([&] { name(x, "\xff"); }), HasSubstr("is not valid UTF-8"));
    EXPECT_THAT(message([&] { name(x, std::string(1025, 'a')); }), HasSubstr("has more than 1024 bytes"));
    EXPECT_THAT(message([&] { name(Tensor(), "a"); }), HasSubstr("empty or moved-from"));
    for (const char* odd : {"größe", "a \"quoted\" \\ name", "as", ": f32[4]"}) {
        Graph other;
        other.output("y", name(exp(other.input("x", DType::f32, {4})), odd));
        EXPECT_EQ(name_of(Tensor(parse_graph(to_string(other)).data(), 1)), odd);
    }
}

TEST(ValueNames, TextsWithAnInvalidOneAreRefused) {
    const auto fault = [](const std::string& line) {
        return message([&] { parse_graph("graph g\n%0 = input \"x\" : f32[4] as \"a\"\n" + line); });
    };
    EXPECT_THAT(fault("%1 = exp %0 : f32[4] as \"a\""),
                HasSubstr("line 3, column 25: a value is called \"a\" already"));
    EXPECT_THAT(fault("%1 = exp %0 : f32[4] as \"\""), HasSubstr("the name is empty"));
    EXPECT_THAT(fault("%1 = exp %0 : f32[4] as"), HasSubstr("line 3"));
    EXPECT_THAT(fault("%1 = exp %0 : f32[4] as \"b\" x"), HasSubstr("the end of the line"));
}

TEST(ValueNames, AppearInErrors) {
    Graph g;
    const Tensor x = name(g.input("x", DType::f32, {4, 3}), "pixels"), w = g.weight("w", DType::f32, {4, 2});
    EXPECT_THAT(message([&] { matmul(x, w); }), HasSubstr("; operand 0 is \"pixels\" (value_names_test.cpp:"));
}

}  // namespace
}  // namespace cairn::ir
