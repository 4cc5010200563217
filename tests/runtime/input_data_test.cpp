#include "cairn/cairn.hpp"
#include "tests/errors/message.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <functional>
#include <vector>

namespace cairn {
namespace {

using test::message;

const Context& context() {
    static const Context made;
    return made;
}

/// y = 2x for any number of rows of eight.
CompiledGraph doubles(DType dtype = DType::f32) {
    Graph g;
    const Tensor x = g.input("x", dtype, {g.symbol("N", 1, 64), 8});
    g.output("y", x + x);
    return compile(g, context());
}

template <typename T>
void expect_accepted(DType dtype) {
    Graph g;
    g.output("y", reshape(g.input("x", dtype, {2, 3}), {6}));
    CompiledGraph model = compile(g, context());
    const std::array<T, 6> x{T(1), T(0), T(1), T(1), T(0), T(1)};
    model.set("x", std::span<const T>(x), {2, 3});
    model.run();
    const auto y = model.output("y").template as<T>();
    EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin(), y.end())) << to_string(dtype);
    std::array<T, 6> out{};
    model.set_output("y", out);
    model.set("x", x);
    model.run();
    EXPECT_EQ(out, x) << to_string(dtype);
    for (const DType other : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i8,
                              DType::u8, DType::boolean}) {
        Graph h;
        h.output("y", reshape(h.input("x", other, {2, 3}), {6}));
        CompiledGraph wrong = compile(h, context());
        const bool fits = other == dtype || (sizeof(T) == 2 && size_of(other) == 2);
        EXPECT_EQ(message([&] {
                      wrong.set("x", x, {2, 3});
                  }) == "nothing was thrown",
                  fits)
            << to_string(dtype) << " for " << to_string(other);
        EXPECT_EQ(message([&] {
                      wrong.set("x", x.data(), {2, 3});
                  }) == "nothing was thrown",
                  fits)
            << "behind a pointer, " << to_string(dtype) << " for " << to_string(other);
    }
}

TEST(InputData, EachTypeIsAcceptedOnlyForItsDtype) {
    expect_accepted<double>(DType::f64);
    expect_accepted<float>(DType::f32);
    expect_accepted<std::uint16_t>(DType::f16);
    expect_accepted<std::uint16_t>(DType::bf16);
    expect_accepted<std::int64_t>(DType::i64);
    expect_accepted<long long>(DType::i64);
    expect_accepted<std::int32_t>(DType::i32);
    expect_accepted<std::int8_t>(DType::i8);
    expect_accepted<std::uint8_t>(DType::u8);
    expect_accepted<bool>(DType::boolean);
}

TEST(InputData, IsAcceptedFromAnyContiguousRange) {
    CompiledGraph model = doubles();
    std::vector<float> x(16, 3);
    float plain[8] = {5, 5, 5, 5, 5, 5, 5, 5};
    const auto first = [&] {
        model.run();
        return model.output("y").as<float>()[0];
    };
    model.set("x", x, {2, 8});
    EXPECT_EQ(first(), 6);
    model.set("x", plain, {1, 8});
    EXPECT_EQ(first(), 10);
    model.set("x", std::span(x).first(8), std::vector<std::int64_t>{1, 8});
    EXPECT_EQ(first(), 6);
    model.set("x", std::vector<float>(8, 4), {1, 8});  // a temporary: copied
    EXPECT_EQ(first(), 8);
    model.set("x", {1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f}, {1, 8});
    EXPECT_EQ(first(), 2);
    EXPECT_EQ(first(), 2);
}

TEST(InputData, TheNumberOfElementsCanDetermineTheShape) {
    CompiledGraph model = doubles();
    const std::vector<float> x(24, 1);
    model.set("x", x);
    model.run();
    EXPECT_EQ(model.output("y").shape[0], 3);
    model.set("x", {1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f});
    model.run();
    EXPECT_EQ(model.output("y").shape[0], 1);
    EXPECT_EQ(message([&] { model.set("x", std::vector<float>(13)); }),
              "[set] input \"x\" is f32[N,8], got 13 elements, not a multiple of 8");
    EXPECT_EQ(message([&] { model.set("x", std::vector<float>(520)); }), "[set] N = 65 is not in 1..64");

    Graph g;
    const Dim n = g.symbol("N", 1, 8), m = g.symbol("M", 1, 8);
    g.output("a", g.input("two", DType::f32, {n, m}) * 2.0f);
    g.output("b", g.input("halves", DType::f32, {n / 2}) * 2.0f);
    g.output("c", g.input("none", DType::f32, {n, 0}) * 2.0f);
    CompiledGraph open = compile(g, context());
    const std::vector<float> some(2);
    for (const char* name : {"two", "halves", "none"})
        EXPECT_NE(message([&] { open.set(name, some); }).find("give the shape"), std::string::npos) << name;
}

TEST(InputData, TheLengthOfAStateIsKnown) {
    Graph g;
    const Dim past = g.symbol("P", 0, 8), t = g.symbol("T", 1, 4);
    State rows = g.state("rows", DType::f32, {past, 2}, 0, 12);
    const Tensor mask = g.input("mask", DType::f32, {past + t});
    g.output("y", sum(rows.append(g.input("x", DType::f32, {t, 2})), {1}) * mask);
    CompiledGraph model = compile(g, context());
    model.set("x", {1.f, 2.f, 3.f, 4.f});
    model.set("mask", {1.f, 2.f}, {2});
    model.run();
    EXPECT_EQ(model.output("y").as<float>()[1], 14);
}

TEST(InputData, WrongCallsGiveOneSentenceErrors) {
    CompiledGraph model = doubles();
    const std::vector<float> x(16);
    EXPECT_EQ(message([&] {
                  model.set("x", x, {1, 8});
              }),
              "[set] input \"x\" is f32[N,8], expected 8 elements, got 16");
    EXPECT_EQ(message([&] {
                  model.set("x", std::vector<std::int32_t>(8), {1, 8});
              }),
              "[set] input \"x\" is f32[N,8], got elements of i32");
    EXPECT_EQ(message([&] {
                  model.set("x", std::vector<std::uint16_t>(8), {1, 8});
              }),
              "[set] input \"x\" is f32[N,8], got elements of f16 or bf16 (std::uint16_t)");
    EXPECT_EQ(message([&] { model.set("q", x, {2, 8}); }), "[set] there is no input called \"q\"");
    EXPECT_EQ(message([&] {
                  model.set("x", std::span<const float>(), {1, 8});
              }),
              "[set] input \"x\" is f32[N,8], expected 8 elements, got 0");
}

TEST(InputData, ASymbolHasOneValueInAShape) {
    Graph g;
    const Dim n = g.symbol("N", 1, 8);
    g.output("y", g.input("x", DType::f32, {n, n}) * 2.0f);
    CompiledGraph model = compile(g, context());
    EXPECT_EQ(message([&] {
                  model.set("x", std::vector<float>(6), {2, 3});
              }),
              "[set] input \"x\" is f32[N,N], got N = 2 on axis 0 and 3 on axis 1");
}

TEST(InputData, IsReadByEachRunUntilItIsSetAgain) {
    CompiledGraph model = doubles();
    std::vector<float> x(8, 1);
    model.set("x", x, {1, 8});
    for (int i = 0; i < 3; ++i) {
        x[5] = static_cast<float>(i);
        model.run();
        EXPECT_EQ(model.output("y").as<float>()[5], 2 * i);
    }
}

TEST(InputData, AFailedCallChangesNothing) {
    CompiledGraph model = doubles();
    std::vector<float> transposed(16);
    for (std::size_t i = 0; i < 16; ++i) transposed[i] = static_cast<float>(i);
    int released = 0;
    InputView view;
    view.data = transposed.data();
    view.shape = {2, 8};
    view.strides = {1, 2};
    view.owner = &released;
    view.release = [](void* owner) { ++*static_cast<int*>(owner); };
    model.set("x", view);
    EXPECT_EQ(released, 1);

    const std::vector<float> big(200'000, 7);
    InputView wrong = view;
    wrong.data = big.data();
    wrong.shape = {20'000, 8};
    EXPECT_EQ(message([&] { model.set("x", wrong); }), "[set] N = 20000 is not in 1..64");
    wrong.shape = {-1, 8};
    EXPECT_EQ(message([&] { model.set("x", wrong); }), "[set] input \"x\" is f32[N,8], got -1 on axis 0");
    wrong.shape = {2};
    wrong.strides = {2};
    EXPECT_EQ(message([&] { model.set("x", wrong); }), "[set] input \"x\" is f32[N,8], got 1 axes");
    wrong = view;
    wrong.data = nullptr;
    EXPECT_EQ(message([&] { model.set("x", wrong); }), "[set] input \"x\" has no data");
    EXPECT_EQ(released, 5);

    const std::vector<std::vector<float>> others(50, std::vector<float>(16, -5));  // reuse freed memory, if any
    model.run();
    const auto y = model.output("y").as<float>();
    ASSERT_EQ(y.size(), 16U);
    for (std::size_t r = 0; r < 2; ++r)
        for (std::size_t c = 0; c < 8; ++c) EXPECT_EQ(y[r * 8 + c], 2 * transposed[c * 2 + r]);
}

TEST(InputData, BytesAreAcceptedForAnyDtype) {
    CompiledGraph model = doubles();
    const std::vector<float> x(8, 3);
    const auto bytes = std::as_bytes(std::span(x));
    model.set("x", bytes.data(), {1, 8});
    model.run();
    EXPECT_EQ(model.output("y").as<float>()[7], 6);
    EXPECT_EQ(message([&] { model.set("x", bytes.data(), {1, 7}); }), "[set] input \"x\" is f32[N,8], got 7 on axis 1");
    EXPECT_EQ(message([&] { model.set("x", nullptr, {1, 8}); }), "[set] input \"x\" has no data");
    const float* none = nullptr;
    EXPECT_EQ(message([&] { model.set("x", none, {1, 8}); }), "[set] input \"x\" has no data");
}

TEST(InputData, AStridedViewOfTheCopyInUseIsAccepted) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {2, 2});
    g.output("y", x);
    CompiledGraph model = compile(g, context());
    model.set("x", {1.f, 2.f, 3.f, 4.f}, {2, 2});
    for (const float second : {3.f, 2.f, 3.f}) {
        model.run();
        InputView transposed;
        transposed.data = model.output("y").data;
        transposed.shape = {2, 2};
        transposed.strides = {1, 2};
        model.set("x", transposed);
        model.run();
        EXPECT_EQ(model.output("y").as<float>()[1], second);
    }
}

TEST(InputData, WeightsAreBoundFromAFile) {
    const std::filesystem::path path = std::filesystem::path(CAIRN_BINARY_DIR) / "bound.safetensors";
    const float values[] = {1, 2, 3, 4};
    InputView view;
    view.data = values;
    view.shape = {4};
    write_safetensors(path, {{"w", view}});
    Graph g;
    g.output("y", g.input("x", DType::f32, {4}) * g.weight("w", DType::f32, {4}));
    CompiledGraph model = compile(g, context());
    model.bind(Safetensors::open(path));
    model.set("x", {1.f, 1.f, 1.f, 1.f});
    model.run();
    EXPECT_EQ(model.output("y").as<float>()[3], 4);
}

}  // namespace
}  // namespace cairn
