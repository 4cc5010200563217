#include "cairn/ops.hpp"
#include "graph/ir/graph_data.hpp"
#include "graph/ir/graph_inputs.hpp"
#include "graph/ir/verify.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <span>

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

TEST(State, MayBeginWithElements) {
    Graph g("g");
    const std::vector<float> first{1.5F, -0.0F, std::numeric_limits<float>::infinity()};
    State h = g.state("h", DType::f32, {3}, first);
    g.state("step", DType::i64, {}, {std::int64_t{9007199254740993}});
    const bool flags[] = {true, false};
    g.state("flags", DType::boolean, {2}, flags);
    g.state("bytes", DType::u8, {1, 2}, {std::uint8_t{255}, std::uint8_t{7}});
    g.state("signed", DType::i8, {1}, {std::int8_t{-128}});
    const std::uint16_t one_and_a_half[] = {0x3e00, 0x3fc0};  // as f16, as bf16
    g.state("half", DType::f16, {1}, std::span(one_and_a_half, 1));
    g.state("brain", DType::bf16, {1}, std::span(one_and_a_half + 1, 1));
    g.state("wide", DType::f64, {2}, {0.1, std::numeric_limits<double>::quiet_NaN()});
    g.state("none", DType::i32, {0}, std::vector<std::int32_t>());
    EXPECT_EQ(verify(*g.data()), "");
    const std::string text = to_string(g);
    EXPECT_EQ(text.substr(0, text.find("state \"h\"")),
              "graph g\n%0 = state_read \"h\" initial={1.5, -0, inf} : f32[3]\n"
              "%1 = state_read \"step\" initial=9007199254740993 : i64[]\n"
              "%2 = state_read \"flags\" initial={1, 0} : bool[2]\n"
              "%3 = state_read \"bytes\" initial={255, 7} : u8[1,2]\n"
              "%4 = state_read \"signed\" initial={-128} : i8[1]\n%5 = state_read \"half\" initial={1.5} : f16[1]\n"
              "%6 = state_read \"brain\" initial={1.5} : bf16[1]\n"
              "%7 = state_read \"wide\" initial={0.1, nan} : f64[2]\n%8 = state_read \"none\" initial={} : i32[0]\n");
    EXPECT_EQ(to_string(parse_graph(text)), text);
    EXPECT_EQ(h.read().id(), h.latest().id());
}

TEST(State, ThatGrowsHasNoInitialElements) {
    GraphData grown("g");
    const Dim past = grown.symbols()->add("P", 0, 8);
    add_state(grown, "k", DType::f32, {past}, 0, 16, {});
    Node read = grown.node(0);
    read.name = "other";
    read.values = std::make_shared<const std::vector<double>>(1, 2.0);
    grown.states()[0] = {"other", DType::f32, read.shape, -1, 16, 1, 1};
    grown.intern(read);
    EXPECT_NE(verify(grown).find("values belong to constants and states of fixed size"), std::string::npos)
        << verify(grown);
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

TEST(State, AMovedFromHandleThrows) {
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
