#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace cairn {
namespace {

constexpr std::int64_t width = 96;
constexpr int layers = 6;

/// A chain of products with increasing inner widths.
Graph chain() {
    Graph g("chain");
    const Dim t = g.symbol("T", 1, 64);
    Tensor x = g.input("x", DType::f32, {t, width});
    for (int i = 0; i < layers; ++i) {
        const std::string name = std::to_string(i);
        const std::int64_t inner = width * (i + 1);
        const Tensor h = gelu(linear(x, g.weight("up" + name, DType::f32, {width, inner})));
        x = x + linear(h, g.weight("down" + name, DType::f32, {inner, width}));
    }
    g.output("y", x);
    return g;
}

struct Outcome {
    std::int64_t bytes;
    double seconds;
    std::vector<float> y;
};

std::int64_t needed(const CompiledGraph& compiled) {
    const MemoryReport memory = compiled.memory();
    return memory.bound + memory.states + memory.arena + memory.constants;
}

/// Bytes, expected seconds and results of a compile with a limit.
Outcome outcome(const Context& context, std::optional<std::int64_t> limit) {
    CompileOptions options;
    options.splits = {{"T", {1}}};
    options.memory_limit = limit;
    options.verify = true;
    CompiledGraph compiled = compile(chain(), context, options);
    std::map<std::string, std::vector<float>, std::less<>> weights;
    compiled.bind([&](std::string_view name) {
        const std::int64_t inner = width * (name.back() - '0' + 1);
        std::vector<float>& values = weights[std::string(name)];
        values.resize(static_cast<std::size_t>(width * inner));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.004f * static_cast<float>((i * 29) % 17) - 0.032f;
        InputView view;
        view.data = values.data();
        view.shape = name.starts_with("up") ? std::vector<std::int64_t>{width, inner} : std::vector{inner, width};
        return view;
    });
    Outcome result{needed(compiled), 0, {}};
    for (const std::int64_t rows : {1, 5}) {
        std::vector<float> x(static_cast<std::size_t>(rows * width));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
        compiled.set("x", x.data(), {rows, width});
        compiled.run({.profile = true});
        for (const InstructionProfile& row : compiled.profile()) result.seconds += row.expected_seconds;
        for (const float y : compiled.output("y").as<float>()) result.y.push_back(y);
    }
    EXPECT_LE(needed(compiled), limit.value_or(needed(compiled)));
    return result;
}

std::int64_t least_bytes(const Context& context) {
    try {
        outcome(context, 1);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::memory);
        const std::string text = error.what();
        return std::stoll(text.substr(text.find("] ") + 2));
    }
    ADD_FAILURE() << "one byte was enough";
    return 0;
}

TEST(MemoryLimit, TradesTimeForBytes) {
    const Context context;
    const Outcome free = outcome(context, {});
    const std::int64_t least = least_bytes(context);
    ASSERT_LT(least, free.bytes / 2) << "packed weights are most of the bytes";
    Outcome last = free;
    for (int fourths = 3; fourths >= 0; --fourths) {
        const Outcome tighter = outcome(context, least + (free.bytes - least) * fourths / 4);
        EXPECT_LT(tighter.bytes, last.bytes);
        EXPECT_GT(tighter.seconds, last.seconds) << "whose bytes were free for the taking before";
        ASSERT_EQ(tighter.y.size(), free.y.size());
        for (std::size_t i = 0; i < free.y.size(); ++i)
            ASSERT_NEAR(tighter.y[i], free.y[i], 1e-4 * (1 + std::abs(free.y[i]))) << i;
        last = tighter;
    }
    EXPECT_EQ(last.bytes, least);
    EXPECT_THROW(outcome(context, least - 1), Error);
}

TEST(MemoryLimit, ThatIsLargeEnoughChangesNothing) {
    const Context context;
    const Outcome free = outcome(context, {}), limited = outcome(context, free.bytes);
    EXPECT_EQ(limited.bytes, free.bytes);
    EXPECT_EQ(limited.seconds, free.seconds);
    EXPECT_EQ(limited.y, free.y);
}

}  // namespace
}  // namespace cairn
