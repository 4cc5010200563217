#include "cairn/models/gpt2.hpp"
#include "cairn/ops.hpp"
#include "runtime/compiled_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

// What depends on weights alone is computed when they are bound, once for all programs, and never again.
namespace cairn::test {
namespace {

using program::BufferKind;
using program::Program;

models::Gpt2Config small_config(std::int64_t layers) {
    models::Gpt2Config config;
    config.vocabulary = 4096, config.positions = 512, config.width = 256, config.heads = 4, config.layers = layers,
    config.inner = 1024;
    return config;
}

runtime::ProgramSet compiled(const models::Gpt2Config& config, models::Logits logits, const Context& context) {
    CompileOptions options;
    options.splits = {{"T", {1, 12}}};
    const Graph graph = models::gpt2_graph(config, models::gpt2_weights(config), {.logits = logits});
    return runtime::parse_program_set(compile(graph, context, options).program());
}

bool is_bound(const Program& program, const program::View& view) {
    const BufferKind kind = program.buffers[static_cast<std::size_t>(view.buffer)].kind;
    return kind == BufferKind::weight || kind == BufferKind::constant || kind == BufferKind::bound;
}

/// Names of the weights, and digests of the bound buffers, that a run reads.
std::set<std::string> read_in_runs(const Program& program) {
    std::set<std::string> names;
    for (const program::Instruction& instruction : program.run)
        for (const program::View& input : instruction.inputs)
            if (is_bound(program, input)) names.insert(program.buffers[static_cast<std::size_t>(input.buffer)].name);
    return names;
}

TEST(BoundWork, NoRunCastsMovesOrPacksAWeight) {
    const runtime::ProgramSet set = compiled(small_config(3), models::Logits::last, Context());
    ASSERT_EQ(set.buckets.size(), 3U);
    int bound_instructions = 0, run_instructions = 0;
    for (const runtime::BucketProgram& bucket : set.buckets) {
        const Program& program = bucket.program;
        bound_instructions += static_cast<int>(program.bind.size());
        for (const program::Instruction& instruction : program.run) {
            ++run_instructions;
            const bool from_weights_alone =
                !instruction.inputs.empty() &&
                std::all_of(instruction.inputs.begin(), instruction.inputs.end(),
                            [&](const program::View& input) { return is_bound(program, input); });
            EXPECT_FALSE(from_weights_alone) << instruction.kernel << ' ' << to_string(*instruction.problem);
        }
    }
    EXPECT_GT(bound_instructions, 0);
    EXPECT_GT(run_instructions, 0);
}

TEST(BoundWork, ATransposedOrConvertedWeightIsMadeOnce) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {8, 64});
    const Tensor w = g.weight("w", DType::f16, {32, 64}), v = g.weight("v", DType::f16, {16, 64});
    g.output("y", matmul(x, transpose(cast(concat({w, v}, 0), DType::f32), {1, 0})));
    const runtime::ProgramSet set = runtime::parse_program_set(compile(g, Context()).program());
    const Program& program = set.buckets[0].program;
    const auto definitions = [](const std::vector<program::Instruction>& instructions) {
        std::multiset<std::string> names;
        for (const program::Instruction& instruction : instructions) names.insert(instruction.problem->definition);
        return names;
    };
    EXPECT_TRUE(definitions(program.bind).contains("cast") || definitions(program.bind).contains("elementwise"));
    EXPECT_EQ(definitions(program.run), std::multiset<std::string>{"matmul"});
}

// Logits of all positions are a large product, for which the packed form pays: then the embedding reads its rows out of
// it, and the form as stored is not kept.
TEST(BoundWork, ATiedEmbeddingIsReadOutOfThePackedForm) {
    const runtime::ProgramSet set = compiled(small_config(1), models::Logits::all, Context());
    const Program& program = set.buckets.back().program;
    std::string packed;
    for (const program::Instruction& instruction : program.run)
        if (instruction.problem->definition == "matmul" && instruction.problem->outputs[0].shape.back() == Dim(4096))
            packed = program.buffers[static_cast<std::size_t>(instruction.inputs[1].buffer)].name;
    ASSERT_FALSE(packed.empty());
    EXPECT_NE(packed, "transformer.wte.weight") << "the product reads the weight as stored";
    int gathers = 0;
    for (const program::Instruction& instruction : program.run)
        gathers += std::any_of(instruction.inputs.begin(), instruction.inputs.end(), [&](const program::View& input) {
            return program.buffers[static_cast<std::size_t>(input.buffer)].name == packed &&
                   instruction.problem->definition != "matmul";
        });
    EXPECT_EQ(gathers, 1);
    for (const runtime::BucketProgram& bucket : set.buckets)
        EXPECT_FALSE(read_in_runs(bucket.program).contains("transformer.wte.weight"));
}

}  // namespace
}  // namespace cairn::test
