#include "cairn/cairn.hpp"
#include "program/program.hpp"
#include "runtime/compiled_graph.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cairn {
namespace {

const program::Program& program_of(const CompiledGraph& compiled, std::vector<runtime::ProgramSet>& keep) {
    keep.push_back(runtime::parse_program_set(compiled.program()));
    return keep.back().buckets[0].program;
}

TEST(Emit, ComputationsOfWeightsAreInTheBindSection) {
    Graph g;
    const Dim n = g.symbol("N", 1, 64);
    const Tensor x = g.input("x", DType::f32, {n, 32});
    const Tensor a = cast(g.weight("a", DType::f16, {48, 32}), DType::f32),
                 b = cast(g.weight("b", DType::f16, {16, 32}), DType::f32);
    const Tensor w = transpose(concat({a, b}, 0), {1, 0});
    g.output("y", gelu(linear(x, w, g.weight("bias", DType::f32, {64}) * 2.0f)));
    const CompiledGraph compiled = compile(g, Context(), {.verify = true});
    std::vector<runtime::ProgramSet> keep;
    const program::Program& program = program_of(compiled, keep);
    ASSERT_FALSE(program.bind.empty());
    std::set<int> weights;
    for (std::size_t i = 0; i < program.buffers.size(); ++i)
        if (program.buffers[i].kind == program::BufferKind::weight) weights.insert(static_cast<int>(i));
    for (const program::Instruction& instruction : program.run) {
        EXPECT_NE(instruction.problem->definition, "cast");
        EXPECT_NE(instruction.problem->definition, "transpose");
        EXPECT_NE(instruction.problem->definition, "concat");
        for (const program::View& view : instruction.inputs)
            EXPECT_FALSE(weights.contains(view.buffer)) << instruction.kernel;
    }
}

TEST(Emit, AStateIsReadBeforeItIsOverwritten) {
    Graph g;
    const Dim n = g.symbol("N", 2, 8);
    State s = g.state("s", DType::f32, {n, 4}, 0, 8);
    const Tensor before = s.read();
    const Tensor rows = g.input("rows", DType::f32, {1, 4});
    const Tensor after = s.write(rows, 1);
    g.output("before", before * 1.0f + 0.0f);
    g.output("late", before + sum(after));
    g.output("after", after);
    const CompiledGraph compiled = compile(g, Context(), {.verify = true});
    CompiledGraph run = compiled.instance();
    const float first[] = {1, 2, 3, 4};
    run.set("rows", first, {1, 4});
    run.run();
    EXPECT_EQ(run.output("before").as<float>()[4], 0);
    EXPECT_EQ(run.output("late").as<float>()[4], 10);
    EXPECT_EQ(run.output("after").as<float>()[4], 1);
    run.run();
    EXPECT_EQ(run.output("before").as<float>()[4], 1);
    EXPECT_EQ(run.output("late").as<float>()[4], 11);
}

std::vector<float> values(const OutputView& output) {
    const auto elements = output.as<float>();
    return {elements.begin(), elements.end()};
}

TEST(Emit, EachReaderReadsItsVersionOfARepeatedlyWrittenState) {
    Graph g;
    State s = g.state("s", DType::f32, {g.symbol("P", 0, 7)}, 0, 8);
    const Tensor a = g.input("a", DType::f32, {1});
    const Tensor v1 = s.append(a), v2 = s.write(a + 10, 0), v3 = s.write(a + 20, 0);
    g.output("all", concat({v1, v2, v3}, 0));
    g.output("first", v1);
    g.output("second", v2);
    for (const char* stage : {"", "simplify", "search", "elementwise"}) {
        CompileOptions options{.verify = true};
        if (*stage != 0) options.disable = {stage};
        CompiledGraph compiled = compile(g, Context(), options);
        const float one[] = {1};
        compiled.set("a", one, {1});
        compiled.run();
        EXPECT_EQ(values(compiled.output("all")), (std::vector<float>{1, 11, 21})) << stage;
        EXPECT_EQ(values(compiled.output("first")), std::vector<float>{1}) << stage;
        EXPECT_EQ(values(compiled.output("second")), std::vector<float>{11}) << stage;
    }
}

TEST(Emit, ReadersOfOneOldVersionShareItsCopy) {
    Graph g;
    State s = g.state("s", DType::f32, {g.symbol("P", 1, 8), 4}, 0, 8);
    const Tensor before = s.read(), after = s.write(g.input("rows", DType::f32, {1, 4}), 0);
    g.output("a", before + sum(after));
    g.output("b", before * sum(after, {0}, true));
    std::vector<runtime::ProgramSet> keep;
    const program::Program& program = program_of(compile(g, Context(), {.disable = {"elementwise"}}), keep);
    int copies = 0;
    for (const program::Instruction& instruction : program.run)
        if (instruction.problem->definition == "copy") ++copies;
    EXPECT_EQ(copies, 2) << "of the rows, and of the old version";
}

TEST(Emit, RowsOfAStateMayMoveWithinIt) {
    Graph g;
    State s = g.state("s", DType::f32, {g.symbol("P", 3, 8), 3}, 0, 8);
    const Tensor filled = s.write(g.input("x", DType::f32, {3, 3}), 0);
    g.output("y", s.write(transpose(slice(filled, 0, 0, 3), {1, 0}), 0));
    for (const int threads : {1, 2}) {
        CompiledGraph compiled = compile(g, Context({.threads = threads}), {.verify = true});
        const float x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
        compiled.set("x", x, {3, 3});
        compiled.run();
        EXPECT_EQ(values(compiled.output("y")), (std::vector<float>{0, 3, 6, 1, 4, 7, 2, 5, 8}));
    }
}

TEST(Emit, AnAppendCopiesTheNewRowsOnly) {
    Graph g;
    const Dim past = g.symbol("P", 0, 1023), t = g.symbol("T", 1, 8);
    State s = g.state("s", DType::f32, {past, 64}, 0, 1024);
    g.output("sum", sum(s.append(g.input("x", DType::f32, {t, 64})), {0}));
    const CompiledGraph compiled = compile(g, Context(), {.verify = true});
    std::vector<runtime::ProgramSet> keep;
    const program::Program& program = program_of(compiled, keep);
    int writes = 0;
    for (const program::Instruction& instruction : program.run)
        for (std::size_t o = 0; o < instruction.outputs.size(); ++o)
            if (program.buffers[static_cast<std::size_t>(instruction.outputs[o].buffer)].kind ==
                program::BufferKind::state) {
                ++writes;
                EXPECT_EQ(to_string(element_count(instruction.problem->outputs[o].shape)), "64*T");
                EXPECT_EQ(to_string(instruction.outputs[o].offset), "64*P");
            }
    EXPECT_EQ(writes, 1);
}

}  // namespace
}  // namespace cairn
