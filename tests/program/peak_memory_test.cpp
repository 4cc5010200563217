#include "program/peak_memory.hpp"

#include "cairn/cairn.hpp"
#include "program/plan_memory.hpp"
#include "tests/program/sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace cairn::program {
namespace {

/// A program of storages with random sizes, live intervals and states, as the memory plan sees them.
Program random_program(std::mt19937& random, int symbols, int max_values) {
    Program program;
    program.symbols = test::random_symbols(random, symbols, max_values);
    const int instructions = 2 + static_cast<int>(random() % 10);
    program.run.resize(static_cast<std::size_t>(instructions));
    for (unsigned i = 0; i < 2 + random() % 12; ++i) {
        const Dim bytes = test::random_size(random, *program.symbols);
        const int first = static_cast<int>(random() % static_cast<unsigned>(instructions));
        const int last = std::min(instructions - 1, first + static_cast<int>(random() % 4));
        const int buffer = static_cast<int>(program.buffers.size());
        program.buffers.push_back({BufferKind::workspace, "", TensorDesc::dense(DType::u8, {bytes}), bytes, {}, -1});
        for (int at = first; at <= last; ++at) {
            // Reads by several instructions give the buffer a longer live interval.
            Instruction& instruction = program.run[static_cast<std::size_t>(at)];
            instruction.inputs.push_back({buffer, 0});
        }
    }
    const auto list = program.symbols->list();
    if (random() % 2 == 0) {
        const Dim before = *program.symbols->find(list[0].name);
        const Dim after = before + *program.symbols->find(list[random() % list.size()].name);
        const Dim capacity = (after.lower_bound() + after.upper_bound()) / 2;
        program.buffers.push_back(
            {BufferKind::state, "s", TensorDesc::dense(DType::f32, {capacity}), 4 * capacity, {}, -1});
        program.states.push_back({"s", static_cast<int>(program.buffers.size()) - 1, 0, before, after, {}, false});
    }
    return program;
}

std::int64_t arena_at(const Program& program, const std::vector<std::int64_t>& values) {
    return evaluate_plan(program, values).arena_bytes.value_of(Device::cpu);
}

/// The peak over all legal symbol values, by enumeration.
std::optional<std::int64_t> brute_force(const Program& program) {
    std::optional<std::int64_t> most;
    test::for_all_values(*program.symbols, [&](const std::vector<std::int64_t>& values) {
        for (const StatePort& state : program.states)
            if (state.after.evaluate(values) >
                program.buffers[static_cast<std::size_t>(state.buffer)].desc.shape[0].constant())
                return;
        most = std::max(most.value_or(0), arena_at(program, values));
    });
    return most;
}

TEST(PeakMemory, IsTheLargestArenaOfAllSizes) {
    std::mt19937 random(4);
    int between = 0;
    for (int round = 0; round < 300; ++round) {
        Program program = random_program(random, 1 + round % 3, round % 3 == 0 ? 100 : 10);
        plan_memory(program, [](const Instruction&) { return std::vector<std::pair<int, int>>(); });
        const std::optional<std::int64_t> most = brute_force(program);
        const PeakMemory peak = peak_memory_of(program, Device::cpu, 100000);
        if (!most) continue;
        EXPECT_EQ(peak.bytes, *most) << "round " << round;
        EXPECT_TRUE(peak.is_exact());
        EXPECT_EQ(arena_at(program, peak.at), *most) << "round " << round;
        const PeakMemory rough = peak_memory_of(program, Device::cpu, 2);
        EXPECT_GE(rough.bytes, *most) << "round " << round;
        EXPECT_LE(rough.found, *most) << "round " << round;
        std::vector<std::int64_t> highest;
        for (const auto& symbol : program.symbols->list()) highest.push_back(symbol.high);
        between += arena_at(program, highest) < *most;
    }
    EXPECT_GT(between, 60) << "too few plans that are not largest at the largest sizes";
}

/// One output from the rows of a table after row T, one from T rows of another input.
Graph table_and_rows() {
    Graph g;
    const Dim t = g.symbol("T", 1, 1000);
    const Tensor x = g.input("x", DType::f32, {1000, 8}), y = g.input("y", DType::f32, {t, 8});
    const Tensor e = exp(slice(x, 0, t, 1000));
    g.output("s", sum(softmax(e) * e, {0}));
    g.output("u", sum(y * 2.0F, {0}));
    return g;
}

TEST(PeakMemory, ARunAtAnySizeFitsTheReportedMemory) {
    const CompileOptions options{.disable = {"fuse", "elementwise"}, .verify = true};
    CompiledGraph compiled = compile(table_and_rows(), Context(), options);
    const MemoryReport memory = compiled.memory();
    EXPECT_TRUE(memory.arena_is_exact);
    ASSERT_EQ(memory.arena_sizes.size(), 1U);
    EXPECT_EQ(memory.arena_sizes[0].first, "T");
    EXPECT_EQ(memory.arena, compiled.memory({{"T", memory.arena_sizes[0].second}}).arena);
    const std::vector<float> x(8000, 0.5F), y(8000, 1);
    for (const std::int64_t t : {1, 1000, 500, 2, 999}) {
        EXPECT_LE(compiled.memory({{"T", t}}).arena, memory.arena);
        compiled.set("x", x.data(), {1000, 8});
        compiled.set("y", y.data(), {t, 8});
        compiled.run();
        EXPECT_FLOAT_EQ(compiled.output("u").as<float>()[0], 2 * static_cast<float>(t));
    }
}

TEST(PeakMemory, AMemoryLimitCountsTheSizesThatNeedMost) {
    // [A, 8 * (1000 - B)]: largest where A is at its upper bound and B at its lower.
    Graph g;
    const Dim a = g.symbol("A", 1, 64), b = g.symbol("B", 1, 1000);
    const Tensor tail = slice(g.input("w", DType::f32, {1000, 8}), 0, b, 1000);
    const Tensor big = exp(reshape(tail, {1, (Dim(1000) - b) * 8}) + g.input("x", DType::f32, {a, 1}));
    g.output("s", sum(softmax(big) * big) + sum(g.input("z", DType::f32, {b})));
    const Context context;
    CompileOptions options;
    const MemoryReport memory = compile(g, context, options).memory();
    EXPECT_EQ(memory.arena_sizes, (std::vector<std::pair<std::string, std::int64_t>>{{"A", 64}, {"B", 1}}));
    const std::int64_t needed = memory.bound + memory.states + memory.arena + memory.constants;
    EXPECT_GE(needed, std::int64_t{64} * 8 * 999 * 4);
    options.memory_limit = needed;
    compile(g, context, options);
    options.memory_limit = needed - 1;
    try {
        compile(g, context, options);
        FAIL() << "expected an Error";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.kind(), ErrorKind::memory);
        EXPECT_EQ(text.rfind("[compile] " + std::to_string(needed) + " bytes are needed", 0), 0U) << text;
        EXPECT_NE(text.find(" at A = 64, B = 1"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace cairn::program
