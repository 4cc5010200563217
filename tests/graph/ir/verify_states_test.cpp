#include "graph/ir/verify_states.hpp"

#include "cairn/ops.hpp"
#include "graph/ir/verify.hpp"

#include <gtest/gtest.h>

namespace cairn::ir {
namespace {

const std::string two_inputs =
    "graph g (P in 0..4)\n%0 = input \"a\" : f32[1]\n%1 = input \"b\" : f32[1]\n"
    "%2 = state_read \"s\" axis=(-1) capacity=(6) : f32[P]\n%3 = state_append %2, %0 : f32[1 + P]\n";

std::string parse_fault(const std::string& text) {
    try {
        parse_graph(text);
    } catch (const Error& error) { return error.what(); }
    return "";
}

TEST(VerifyStates, AVersionIsChangedOnce) {
    EXPECT_EQ(
        parse_fault(two_inputs + "%4 = state_append %2, %1 : f32[1 + P]\noutput \"p\" %3\nstate \"s\" %4\n"),
        "[parse_graph] line 9, column 1: state \"s\": its version %2 is changed by %3 and by %4; a version can be "
        "changed once");
    EXPECT_EQ(parse_fault(two_inputs + "output \"p\" %3\nstate \"s\" %2\n"),
              "[parse_graph] line 8, column 1: state \"s\": a run would leave %2, but %3 changes it");
    EXPECT_EQ(parse_fault(two_inputs + "%4 = state_append %3, %1 : f32[2 + P]\noutput \"p\" %3\nstate \"s\" %4\n"), "");
    EXPECT_EQ(parse_fault(two_inputs + "%4 = state_append %2, %1 : f32[1 + P]\nstate \"s\" %4\n"), "")
        << "a node that nothing needs is not a version of anything";
}

TEST(VerifyStates, TheVerifierChecksThem) {
    Graph g;
    State s = g.state("s", DType::f32, {2});
    const Tensor x = g.input("x", DType::f32, {2}), first = s.assign(x);
    g.output("y", first + s.assign(x * 2.0f));
    EXPECT_EQ(verify(*g.data()), "");
    g.data()->states()[0].latest = first.id();
    EXPECT_EQ(verify(*g.data()), "state \"s\": a run would leave %2, but %5 changes it");
}

TEST(VerifyStates, StatesOfOneLengthGrowByTheSameRows) {
    Graph g;
    const Dim past = g.symbol("P", 0, 7);
    State keys = g.state("keys", DType::f32, {past, 2}, 0, 8), values = g.state("values", DType::f32, {past}, 0, 8);
    g.state("other", DType::f32, {3});
    EXPECT_EQ(verify_state_growth(*g.data()), "");
    keys.append(g.input("k", DType::f32, {1, 2}));
    EXPECT_EQ(verify_state_growth(*g.data()),
              "the states \"keys\" and \"values\" have the length P, but grow to 1 + P and P");
    values.append(g.input("v", DType::f32, {1}));
    EXPECT_EQ(verify_state_growth(*g.data()), "");
}

}  // namespace
}  // namespace cairn::ir
