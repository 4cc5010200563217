#include "cairn/cairn.hpp"
#include "cairn/composites.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "runtime/program_set.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

// Greedy decoding: logits are not written if only the index of the largest is needed.
namespace cairn::test {
namespace {

constexpr std::int64_t width = 24, vocabulary = 20000, most = 40;

struct Decoder {
    Graph g{"decoder"};
    Tensor rows = g.input("x", DType::f32, {1, g.symbol("T", 0, most), width});
    Tensor table = g.weight("table", DType::f32, {vocabulary, width});
    Tensor logits = matmul(rows, transpose(table, {1, 0}));
};

std::int64_t instructions_of(const program::Program& program, std::string_view definition) {
    return std::count_if(program.run.begin(), program.run.end(),
                         [&](const auto& each) { return each.problem->definition == definition; });
}

bool makes_logits(const program::Program& program) {
    return std::any_of(program.run.begin(), program.run.end(), [](const auto& each) {
        const auto& outputs = each.problem->outputs;
        return std::any_of(outputs.begin(), outputs.end(),
                           [](const TensorDesc& out) { return out.shape.back() == Dim(vocabulary); });
    });
}

TEST(LargestColumn, IsComputedWithoutStoringLogits) {
    Decoder decoder;
    decoder.g.output("next", argmax(decoder.logits, -1));
    const Context context({.threads = 2});
    const CompiledGraph compiled = compile(decoder.g, context, {.verify = true});
    const runtime::ProgramSet set = runtime::parse_program_set(compiled.program());
    for (const auto& bucket : set.buckets) {
        EXPECT_EQ(instructions_of(bucket.program, "linear_argmax"), 1) << program::to_string(bucket.program);
        EXPECT_FALSE(makes_logits(bucket.program));
    }
    EXPECT_LT(compiled.memory().arena, most * vocabulary * 4 / 2);
    for (const std::int64_t rows : {0, 1, 5, 12, 40}) {
        const interpreter::Inputs inputs = random_inputs(*decoder.g.data(), {{"T", rows}}, 17);
        CompiledRun run(set, context, inputs);
        EXPECT_EQ(compare(run.run(inputs), interpreter::interpret(*decoder.g.data(), inputs), 0), "") << rows;
    }
}

TEST(LargestColumn, IsComputedFromLogitsThatAreOutputs) {
    Decoder decoder;
    decoder.g.output("next", argmax(decoder.logits, -1));
    decoder.g.output("logits", decoder.logits);
    const CompiledGraph compiled = compile(decoder.g, Context({.threads = 2}), {.verify = true});
    for (const auto& bucket : runtime::parse_program_set(compiled.program()).buckets) {
        EXPECT_EQ(instructions_of(bucket.program, "linear_argmax"), 0) << program::to_string(bucket.program);
        EXPECT_EQ(instructions_of(bucket.program, "argmax"), 1) << program::to_string(bucket.program);
    }
}

}  // namespace
}  // namespace cairn::test
