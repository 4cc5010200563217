#include "cairn/ops.hpp"
#include "graph/ir/verify.hpp"
#include "tests/graph/ir/random_generator.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

namespace cairn::ir {
namespace {

using test::random_graph;

std::string parse_fault(std::string_view text) {
    try {
        parse_graph(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::argument) << error.what();
        return error.what();
    }
    return "";
}

TEST(Parse, RoundTripsPrintedGraphs) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const Graph graph = random_graph(seed, {.devices = seed % 2 == 1});
        const std::string text = to_string(graph);
        const Graph back = parse_graph(text);
        ASSERT_EQ(to_string(back), text);
        ASSERT_EQ(verify(*back.data()), "");
        const auto &a = graph.data()->nodes(), &b = back.data()->nodes();
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            ASSERT_EQ(a[i].op, b[i].op);
            ASSERT_EQ(a[i].operands, b[i].operands);
        }
    }
}

TEST(Parse, GivesTheSameValues) {
    for (std::uint64_t seed = 1000; seed < 1050; ++seed) {
        const Graph graph = random_graph(seed), back = parse_graph(to_string(graph));
        for (const auto& sizes : test::random_sizes(*graph.data(), 3, seed)) {
            const interpreter::Inputs inputs = test::random_inputs(*graph.data(), sizes, seed);
            const interpreter::Results a = interpreter::interpret(*graph.data(), inputs),
                                       b = interpret(*back.data(), inputs);
            for (const auto& [name, value] : a.outputs) EXPECT_EQ(test::difference(b.outputs.at(name), value, 0), "");
            for (const auto& [name, value] : a.states) EXPECT_EQ(test::difference(b.states.at(name), value, 0), "");
        }
    }
}

// Polynomials of unknown sign: the rest of a slice, and the product of two such sizes.
TEST(Parse, ReadsSizesThatAreDifferencesTimesSizes) {
    Graph g("g");
    const Dim n = g.symbol("N", 1, 3), m = g.symbol("M", 1, 4), k = g.symbol("K", 1, 5);
    const Tensor x = g.input("x", DType::f32, {k + 2, n * m, 2}), y = g.input("y", DType::f32, {n + 1, k + 2, 2});
    const Tensor rows = slice(x, 0, n, k + 2), columns = slice(y, 1, n, k + 2);
    g.output("a", reshape(rows, {-1, 2}));
    g.output("b", reshape(rows, {(k + 2 - n) * n * m, 2}));
    const Tensor c = reshape(columns, {-1, 2});
    g.output("c", broadcast(slice(c, 0, 0, c.dim(0)), {3, c.dim(0), 2}));
    g.output("d", reshape(c, {c.dim(0), -1, 1}));
    const std::string text = to_string(g);
    EXPECT_EQ(to_string(parse_graph(text)), text);
    EXPECT_THROW(reshape(rows, {(n - k - 2) * n * m, -2}), Error);
}

TEST(Parse, AcceptsHandWrittenText) {
    const Graph graph = parse_graph(R"(# a comment

graph by.hand ( N in 0..8 )
  %7 = input "x":f32[ N, 2 ]
%3=constant {1,2}:f32[2]
%100 = add %7,%3 : f32[N,2]
# numbers may be any, and the same value twice is one node
%4 = add %7, %3 : f32[N,2]
output "y" %4)");
    EXPECT_EQ(to_string(graph),
              "graph by.hand (N in 0..8)\n%0 = input \"x\" : f32[N,2]\n%1 = constant {1, 2} : f32[2]\n%2 = add %0, %1 "
              ": f32[N,2]\n"
              "output \"y\" %2\n");
    EXPECT_EQ(to_string(parse_graph("graph g\r\n%0 = input \"x\" : f32[2]\r\n")),
              "graph g\n%0 = input \"x\" : f32[2]\n");
}

TEST(Parse, KeepsTheOrderOfStates) {
    const std::string text =
        "graph g (P in 0..3)\n%0 = state_read \"a\" axis=(-1) capacity=(4) : f32[P]\n"
        "%1 = state_read \"b\" axis=(-1) capacity=(4) : f32[P]\nstate \"b\" %1\nstate \"a\" %0\n";
    EXPECT_EQ(to_string(parse_graph(text)), text);
}

TEST(Parse, NamesLineAndColumn) {
    const auto body = [](const std::string& lines) {
        return parse_fault("graph g (N in 1..8)\n%0 = input \"x\" : f32[N,2]\n" + lines);
    };
    EXPECT_EQ(parse_fault(""), "[parse_graph] line 1, column 1: expected 'graph', got the end of the text");
    EXPECT_EQ(parse_fault("hello"), "[parse_graph] line 1, column 1: expected 'graph', got 'h' in 'hello'");
    EXPECT_EQ(parse_fault("graph g (N in 8..1)"),
              "[parse_graph] line 1, column 10: [symbol] 'N' has the bounds [8, 1]: the lower one is greater than the "
              "upper one in "
              "'graph g (N in 8..1)'");
    EXPECT_EQ(parse_fault("graph g (N in 1..2, N in 1..2)"),
              "[parse_graph] line 1, column 21: the symbol N is there already in 'graph g (N in 1..2, N in 1..2)'");
    EXPECT_EQ(body("%1 = foo %0 : f32[N,2]"),
              "[parse_graph] line 3, column 6: there is no op 'foo' in '%1 = foo %0 : f32[N,2]'");
    EXPECT_EQ(body("%1 = neg %2 : f32[N,2]"),
              "[parse_graph] line 3, column 11: there is no %2 above in '%1 = neg %2 : f32[N,2]'");
    EXPECT_EQ(body("%0 = neg %0 : f32[N,2]"),
              "[parse_graph] line 3, column 2: %0 is there already in '%0 = neg %0 : f32[N,2]'");
    EXPECT_EQ(body("%1 = neg %0 : f32[N,3]"),
              "[parse_graph] line 3, column 6: the result is f32[N,2], not f32[N,3] in '%1 = neg %0 : f32[N,3]'");
    EXPECT_EQ(body("%1 = neg %0"),
              "[parse_graph] line 3, column 12: expected ':', got the end of the text in '%1 = neg %0'");
    EXPECT_EQ(body("%1 = neg %0 : f32[M,2]"),
              "[parse_graph] line 3, column 19: unknown symbol 'M' in '%1 = neg %0 : f32[M,2]'");
    EXPECT_EQ(body("%1 = matmul %0, %0 : f32[N,2]"),
              "[parse_graph] line 3, column 6: [matmul] inner dims differ: lhs f32[N,2], rhs f32[N,2] in '%1 = matmul "
              "%0, %0 : f32[N,2]'");
    EXPECT_EQ(body("%1 = neg %0 axes=(-1) : f32[N,2]"),
              "[parse_graph] line 3, column 6: [neg] has no attribute axes in '%1 = neg %0 axes=(-1) : f32[N,2]'");
    EXPECT_EQ(body("%1 = sum %0 : f32[1,1]"),
              "[parse_graph] line 3, column 6: [sum] attribute axes is missing in '%1 = sum %0 : f32[1,1]'");
    EXPECT_EQ(body("%1 = input \"x\" : f32[N]"),
              "[parse_graph] line 3, column 12: [input] the name \"x\" is taken by input f32[N,2] in '%1 = input \"x\" "
              ": f32[N]'");
    EXPECT_EQ(body("%1 = constant 0.5 : i32[]"),
              "[parse_graph] line 3, column 15: the number 0.5 is no i32 in '%1 = constant 0.5 : i32[]'");
    EXPECT_EQ(
        body("%1 = constant {1, 2} : f32[3]"),
        "[parse_graph] line 3, column 15: [constant] f32[3] needs 3 values, got 2 in '%1 = constant {1, 2} : f32[3]'");
    EXPECT_EQ(body("output \"y\" %0\noutput \"y\" %0"),
              "[parse_graph] line 4, column 8: the output \"y\" is there already in 'output \"y\" %0'");
    EXPECT_EQ(body("state \"k\" %0"),
              "[parse_graph] line 3, column 7: there is no state \"k\" above in 'state \"k\" %0'");
    EXPECT_EQ(body("%1 = state_read \"k\" axis=(-1) capacity=(8) : f32[N]\nstate \"k\" %0"),
              "[parse_graph] line 4, column 7: the node is no version of the state \"k\" in 'state \"k\" %0'");
    EXPECT_EQ(body("%1 = state_read \"k\" axis=(-1) capacity=(8) : f32[N]\n"),
              "[parse_graph] line 4, column 1: a last line 'state \"k\" %...' is missing");
    EXPECT_EQ(body("%1 = input \"a\n"),
              "[parse_graph] line 3, column 14: the name has no closing '\"' in '%1 = input \"a'");
    EXPECT_EQ(body("%1 = state_read \"k\" initial={1, 2} : f32[3]"),
              "[parse_graph] line 3, column 17: [state] \"k\" f32[3] needs 3 values, got 2 in '%1 = state_read \"k\" "
              "initial={1, 2} : f32[3]'");
    EXPECT_EQ(body("%1 = state_read \"k\" initial=300 : u8[]"),
              "[parse_graph] line 3, column 29: the number 300 is no u8 in '%1 = state_read \"k\" initial=300 : u8[]'");
    EXPECT_EQ(body("%1 = state_read \"k\" initial={1} axis=(-1) capacity=(8) : f32[N]"),
              "[parse_graph] line 3, column 33: expected ':', got 'a' in '%1 = state_read \"k\" initial={1} axis=(-1) "
              "capacity=(8) : f32[N]'");
    EXPECT_EQ(body("%1 = state_read \"k\" initial={1} : f32[N]"),
              "[parse_graph] line 3, column 17: [state] the shape of \"k\" must be constant where no axis grows, got "
              "f32[N] in '%1 = state_read \"k\" initial={1} : f32[N]'");
    EXPECT_EQ(body("hello"), "[parse_graph] line 3, column 1: expected '%', 'output' or 'state', got 'h' in 'hello'");
}

// Every mutation of a valid text either parses or is rejected with a position.
TEST(Parse, SurvivesMutations) {
    int refused = 0, accepted = 0;
    const std::string letters = "%=:()[]{},\"\\#-+*. \n0123456789abNPAinfgraph\xff\x00";
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        test::RandomGenerator random(seed);
        std::string text = to_string(random_graph(seed % 100, {.steps = 6}));
        const int edits = 1 + random.below(4);
        for (int i = 0; i < edits && !text.empty(); ++i) {
            const auto at = static_cast<std::size_t>(random.below(static_cast<int>(text.size())));
            const auto length = static_cast<std::size_t>(random.below(12));
            switch (random.below(5)) {
                case 0:
                    text[at] = letters[static_cast<std::size_t>(random.below(static_cast<int>(letters.size())))];
                    break;
                case 1: text.erase(at, length); break;
                case 2:
                    text.insert(
                        at, text.substr(static_cast<std::size_t>(random.below(static_cast<int>(text.size()))), length));
                    break;
                case 3: text.insert(at, std::to_string(random.next())); break;
                default: text.resize(at); break;
            }
        }
        try {
            const Graph graph = parse_graph(text);
            ++accepted;
            ASSERT_EQ(verify(*graph.data()), "") << text;
            ASSERT_EQ(to_string(parse_graph(to_string(graph))), to_string(graph)) << text;
        } catch (const Error& error) {
            ++refused;
            ASSERT_EQ(error.kind(), ErrorKind::argument) << error.what();
            ASSERT_TRUE(std::string_view(error.what()).starts_with("[parse_graph] line ")) << error.what();
            ASSERT_NE(std::string_view(error.what()).find(", column "), std::string_view::npos) << error.what();
        }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_GT(accepted, 100);
}

TEST(Parse, RefusesHugeSizes) {
    const std::string big = "9223372036854775807";
    for (const std::string& line : std::vector<std::string>{
             "%0 = input \"x\" : f32[" + big + "," + big + "]",
             "%0 = iota length=(" + big + ") start=(" + big + ") dtype=(5) : i32[" + big + "]",
             "%0 = input \"x\" : f32[" + big + "0]", "%0 = constant {} : f32[0," + big + "," + big + "]",
             "%0 = input \"x\" : f32[4]\n%1 = pad %0 axis=(-1) before=(" + big + ") after=(" + big +
                 ") value=0 : f32[4]",
             "%0 = input \"x\" : f32[4]\n%1 = window %0 axis=(-1) size=(" + big + ") stride=(1) dilation=(" + big +
                 ") : f32[4]",
             "%0 = input \"x\" : f32[4]\n%1 = slice %0 axis=(-" + big + ") start=(0) stop=(0) step=(1) : f32[4]",
             "%0 = constant 1e999 : f32[]", "%" + big + "0 = constant 1 : f32[]"}) {
        const std::string message = parse_fault("graph g\n" + line);
        EXPECT_TRUE(message.empty() || message.starts_with("[parse_graph] line ")) << message;
    }
    EXPECT_NE(parse_fault("graph g\n%0 = input \"x\" : f32[" + big + "," + big + "]"), "");
    const std::string deep(100000, '(');
    EXPECT_NE(parse_fault("graph g\n%0 = input \"x\" : f32[" + deep), "");
    EXPECT_NE(parse_fault("graph g (N in 0..9)\n%0 = input \"x\" : f32[floordiv(" + deep), "");
}

}  // namespace
}  // namespace cairn::ir
