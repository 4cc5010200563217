#include "cairn/ops.hpp"
#include "ir/graph_data.hpp"
#include "ir/verify.hpp"

#include <gtest/gtest.h>

namespace cairn::ir {
namespace {

TEST(State, OfFixedSizeNeedsNoSymbol) {
    Graph g("g");
    State table = g.state("table", DType::f32, {4, 3}), step = g.state("step", DType::i64, {});
    table.write(g.input("row", DType::f32, {1, 3}), 2);
    table.write(g.input("column", DType::f32, {4, 1}), 2, -1);
    table.assign(table.latest() * 2.0f);
    g.output("step", step.assign(step.read() + 1));
    EXPECT_EQ(verify(*g.data()), "");
    EXPECT_EQ(to_string(g),
              "graph g\n%0 = state_read \"table\" : f32[4,3]\n%1 = state_read \"step\" : i64[]\n"
              "%2 = input \"row\" : f32[1,3]\n%3 = state_write %0, %2 start=(2,0) : f32[4,3]\n"
              "%4 = input \"column\" : f32[4,1]\n%5 = state_write %3, %4 start=(0,2) : f32[4,3]\n"
              "%6 = constant 2 : f32[]\n%7 = mul %5, %6 : f32[4,3]\n%8 = state_write %5, %7 start=(0,0) : f32[4,3]\n"
              "%9 = constant 1 : i64[]\n%10 = add %1, %9 : i64[]\n%11 = state_write %1, %10 start=() : i64[]\n"
              "output \"step\" %11\nstate \"table\" %8\nstate \"step\" %11\n");
    EXPECT_EQ(to_string(parse_graph(to_string(g))), to_string(g));
}

TEST(State, ThatGrowsIsWrittenAlongAnyAxis) {
    Graph g;
    const Dim past = g.symbol("P", 0, 8), t = g.symbol("T", 1, 2);
    State k = g.state("k", DType::f32, {3, past}, 1, 16);
    const Tensor grown = k.append(g.input("rows", DType::f32, {3, t}));
    const Shape live = grown.shape();
    EXPECT_EQ(k.write(g.input("line", DType::f32, {1, past + t}), 1, 0).shape(), live);
    EXPECT_EQ(k.assign(grown * 2.0f).shape(), live);
    EXPECT_EQ(k.write(g.input("last", DType::f32, {3, 1}), past).shape(), live);
    EXPECT_EQ(verify(*g.data()), "");
    EXPECT_EQ(to_string(parse_graph(to_string(g))), to_string(g));
}

TEST(State, AMovedFromHandleSaysSo) {
    Graph g;
    State k = g.state("k", DType::f32, {2});
    const State moved = std::move(k);
    const Tensor x = moved.read();
    const auto refused = [](const auto& use) {
        try {
            use();
        } catch (const Error& error) { return std::string(error.what()); }
        return std::string("nothing was thrown");
    };
    const std::string text = "[state] the handle is moved-from";
    EXPECT_EQ(refused([&] { (void)k.read(); }), text);
    EXPECT_EQ(refused([&] { (void)k.latest(); }), text);
    EXPECT_EQ(refused([&] { k.append(x); }), text);
    EXPECT_EQ(refused([&] { k.write(x, 0); }), text);
    EXPECT_EQ(refused([&] { k.write(x, 0, 0); }), text);
    EXPECT_EQ(refused([&] { k.assign(x); }), text);
}

}  // namespace
}  // namespace cairn::ir
