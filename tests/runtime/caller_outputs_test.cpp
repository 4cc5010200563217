#include "cairn/cairn.hpp"
#include "tests/errors/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace cairn {
namespace {

using test::message;

std::vector<float> numbers(std::size_t count) {
    std::vector<float> x(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 11) * 0.25f - 1;
    return x;
}

TEST(CallerOutputs, AreWrittenOnlyWithinTheirBounds) {
    Graph g;
    const Dim n = g.symbol("N", 1, 8);
    const Tensor value = g.input("x", DType::f32, {n, 4}) * 2.0f + 1.0f;
    g.output("first", slice(value, 0, 0, 1));
    CompiledGraph model = compile(g, Context());
    const std::vector<float> x(32, 1);
    std::vector<float> memory(64, -7);
    model.set("x", x, {8, 4});
    model.set_output("first", std::span(memory).first(4));
    model.run();
    EXPECT_TRUE(std::all_of(memory.begin(), memory.begin() + 4, [](float value) { return value == 3; }));
    EXPECT_TRUE(std::all_of(memory.begin() + 4, memory.end(), [](float value) { return value == -7; }));
}

// `b` needs all of x after `a` could have been computed.
TEST(CallerOutputs, MayOverlapAnInput) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {64, 64});
    g.output("a", exp(x));
    g.output("b", sum(matmul(x, x), {0}));
    for (const int threads : {1, 2}) {
        CompiledGraph model = compile(g, Context({.threads = threads}));
        std::vector<float> data(4096, 0.01f);
        model.set("x", data, {64, 64});
        model.run();
        const float a = model.output("a").as<float>()[7], b = model.output("b").as<float>()[0];
        model.set_output("a", data);
        model.run();
        EXPECT_EQ(model.output("b").as<float>()[0], b);
        EXPECT_EQ(data[7], a);
        EXPECT_EQ(model.output("a").data, data.data());
    }
}

TEST(CallerOutputs, ThatOverwriteTheirInputFeedTheNextRun) {
    Graph g;
    g.output("y", g.input("x", DType::f32, {3}) * 2.0f);
    CompiledGraph model = compile(g, Context());
    std::vector<float> data{1, 2, 3};
    model.set("x", data);
    model.set_output("y", data);
    for (int i = 0; i < 3; ++i) model.run();
    EXPECT_EQ(data, (std::vector<float>{8, 16, 24}));
}

// Part of an input's memory, from the middle on.
TEST(CallerOutputs, MayOverlapAPartOfAnInput) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {8});
    g.output("low", slice(x, 0, 0, 4));
    g.output("y", x + 1.0f);
    CompiledGraph model = compile(g, Context());
    std::vector<float> data = numbers(12), low(4);
    const std::vector<float> before = data;
    model.set("x", std::span<const float>(data).first(8));
    model.set_output("y", std::span(data).subspan(4));
    model.set_output("low", low);
    model.run();
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(data[4 + i], before[i] + 1) << i;
    EXPECT_EQ(low, std::vector<float>(before.begin(), before.begin() + 4));
}

TEST(CallerOutputs, ThatOverlapAreRefused) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {4});
    g.output("a", exp(x));
    g.output("b", x * 3.0f);
    CompiledGraph model = compile(g, Context());
    std::vector<float> data(4, 0), memory(8);
    model.set("x", data);
    model.set_output("a", std::span(memory).first(4));
    model.set_output("b", std::span(memory).subspan(3, 4));
    EXPECT_EQ(message([&] { model.run(); }), "[run] the memory given for output \"b\" overlaps that for output \"a\"");
    model.set_output("b", std::span(memory).subspan(4));
    model.run();
    EXPECT_EQ(memory, (std::vector<float>{1, 1, 1, 1, 0, 0, 0, 0}));
}

TEST(CallerOutputs, DoNotOverwriteTheMemoryOfAnotherOutput) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {4});
    g.output("same", reshape(x, {2, 2}));
    g.output("y", x * 2.0f);
    CompiledGraph model = compile(g, Context());
    std::vector<float> data{1, 2, 3, 4}, same(4);
    model.set("x", data);
    model.set_output("y", data);
    EXPECT_EQ(message([&] { model.run(); }),
              "[run] output \"same\" is a view of an input, whose memory is given for output \"y\"");
    model.set_output("same", same);
    model.run();
    EXPECT_EQ(same, (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(data, (std::vector<float>{2, 4, 6, 8}));
    model.set_output("y", nullptr, 0);
    model.set_output("same", data);  // onto itself
    model.run();
    EXPECT_EQ(model.output("y").as<float>()[3], 16);
    EXPECT_EQ(data, (std::vector<float>{2, 4, 6, 8}));
}

TEST(CallerOutputs, AResultThatTheRunOverwritesIsNoInput) {
    Graph g;
    g.output("y", g.input("x", DType::f32, {4}) * 2.0f);
    CompiledGraph model = compile(g, Context());
    model.set("x", {1.f, 2.f, 3.f, 4.f});
    model.run();
    model.set("x", model.output("y").as<float>());
    const std::string text = message([&] { model.run(); });
    EXPECT_NE(text.find("input \"x\" overlaps a result of this object"), std::string::npos) << text;
}

TEST(CallerOutputs, OfAnotherTypeAreRefused) {
    Graph g;
    g.output("y", g.input("x", DType::f32, {2}) * 2.0f);
    CompiledGraph model = compile(g, Context());
    std::vector<double> wide(2);
    EXPECT_EQ(message([&] { model.set_output("y", wide); }),
              "[set_output] output \"y\" is f32[2], got elements of f64");
    EXPECT_EQ(message([&] { model.set_output("z", wide); }), "[set_output] there is no output called \"z\"");
    std::vector<float> short_one(1);
    model.set("x", {1.f, 2.f});
    model.set_output("y", short_one);
    EXPECT_EQ(message([&] { model.run(); }), "[run] output \"y\" needs 8 bytes, the memory given has 4");
}

}  // namespace
}  // namespace cairn
