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

TEST(Emit, WhatDependsOnWeightsOnlyIsInTheBindSection) {
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
        EXPECT_NE(instruction.problem.definition, "cast");
        EXPECT_NE(instruction.problem.definition, "transpose");
        EXPECT_NE(instruction.problem.definition, "concat");
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
                EXPECT_EQ(to_string(element_count(instruction.problem.outputs[o].shape)), "64*T");
                EXPECT_EQ(to_string(instruction.outputs[o].offset), "64*P");
            }
    EXPECT_EQ(writes, 1);
}

}  // namespace
}  // namespace cairn
