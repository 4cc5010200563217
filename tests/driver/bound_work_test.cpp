#include "cairn/composites.hpp"
#include "cairn/models/gpt2.hpp"
#include "cairn/ops.hpp"
#include "runtime/compiled_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

// Values that depend on weights alone are computed once at bind, for all programs.
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

TEST(BoundWork, RunsDoNotCastMoveOrPackWeights) {
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

TEST(BoundWork, ATransposedOrConvertedWeightIsComputedOnce) {
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

/// Bytes of packed weights, and of all other values kept for runs.
std::pair<std::int64_t, std::int64_t> packed_and_other_bytes(const Program& program) {
    std::pair<std::int64_t, std::int64_t> bytes;
    std::set<int> read;
    for (const program::Instruction& instruction : program.run)
        for (const program::View& input : instruction.inputs)
            if (is_bound(program, input)) read.insert(input.buffer);
    for (const int at : read) {
        const program::Buffer& buffer = program.buffers[static_cast<std::size_t>(at)];
        (buffer.desc.layout.empty() ? bytes.second : bytes.first) += buffer.bytes.constant();
    }
    return bytes;
}

// A 16-bit weight is packed in its storage dtype and never cast, also together with the table of a tied embedding.
TEST(BoundWork, WeightsStoredInHalfPrecisionAreNotWidened) {
    constexpr std::int64_t width = 256, inner = 1024, vocabulary = 4096;
    for (const DType stored : {DType::f16, DType::bf16}) {
        Graph g("g");
        const Tensor ids = g.input("ids", DType::i32, {g.symbol("T", 0, 64)});
        const Tensor table = g.weight("table", stored, {vocabulary, width});
        const Tensor up = cast(g.weight("up", stored, {width, inner}), DType::f32);
        const Tensor down = cast(g.weight("down", stored, {inner, width}), DType::f32);
        const Tensor h = matmul(gelu(matmul(gather(cast(table, DType::f32), ids, 0), up)), down);
        g.output("y", matmul(h, cast(transpose(table, {1, 0}), DType::f32)));
        const CompiledGraph made = compile(g, Context());
        const runtime::ProgramSet set = runtime::parse_program_set(made.program());
        for (const runtime::BucketProgram& bucket : set.buckets) {
            for (const program::Instruction& instruction : bucket.program.bind)
                EXPECT_EQ(instruction.problem->definition, "pack") << to_string(*instruction.problem);
            const auto [packed, other] = packed_and_other_bytes(bucket.program);
            EXPECT_EQ(packed, 2 * (vocabulary * width + 2 * width * inner));
            EXPECT_EQ(other, 0);
        }
        EXPECT_EQ(made.memory().bound, 2 * (vocabulary * width + 2 * width * inner));
    }
}

// Logits of all positions are a large product, for which packing pays. The embedding then reads its rows from the
// packed weight, and the weight is not kept as stored.
TEST(BoundWork, ATiedEmbeddingIsReadFromThePackedLayout) {
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

/// Cost of a product kernel that is fast either for one row or for many.
template <bool for_one_row>
Cost one_row_cost(const Problem& problem) {
    const bool one_row = problem.outputs[0].shape[0] == Dim(1);
    return {0, one_row == for_one_row ? 0.0 : 16000.0, 1};
}

// Two kernels for the product of one weight, each with another layout: the bucket that runs more often decides.
TEST(BoundWork, TheLayoutWithTheLowestWeightedTimeIsKept) {
    ContextOptions own;
    own.extra.layouts = {{"other", [](const TensorDesc& plain) { return element_count(plain.shape) * Dim(4); }, ""}};
    const auto add = [&](std::string id, std::string definition, Cost (*cost)(const Problem&)) -> Kernel& {
        Kernel& kernel = own.extra.kernels.emplace_back();
        kernel.id = std::move(id);
        kernel.definition = std::move(definition);
        kernel.accepts = [](const Problem&) -> Refusal { return {}; };
        kernel.cost = cost;
        kernel.run = [](const Args&, Team&) {};
        return kernel;
    };
    add("test.stored.matmul.f32@1", "matmul", one_row_cost<true>);
    Kernel& packed = add("test.packed.matmul.f32@1", "matmul", one_row_cost<false>);
    packed.packed_inputs = {{1, "other"}};
    packed.accepts = [](const Problem& problem) -> Refusal { return problem.inputs[1].layout == "other" ? "" : "no"; };
    add("test.packed.pack.f32@1", "pack", [](const Problem&) { return Cost{0, 0, 1}; });
    const Context context(std::move(own));
    Graph g("g");
    const Dim n = g.symbol("N", 1, 8);
    g.output("y", matmul(g.input("x", DType::f32, {n, 64}), g.weight("w", DType::f32, {64, 64})));
    const auto chosen = [&](std::vector<double> weights) {
        const runtime::ProgramSet set =
            runtime::parse_program_set(compile(g, context, {.splits = {{"N", {1}, std::move(weights)}}}).program());
        std::vector<std::string> ids;
        for (const runtime::BucketProgram& bucket : set.buckets) ids.push_back(bucket.program.run.at(0).kernel);
        return ids;
    };
    using Ids = std::vector<std::string>;
    EXPECT_EQ(chosen({2, 1}), Ids(2, "test.stored.matmul.f32@1"));
    EXPECT_EQ(chosen({1, 2}), Ids(2, "test.packed.matmul.f32@1"));
}

}  // namespace
}  // namespace cairn::test
