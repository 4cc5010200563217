#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

constexpr int graphs = 2000, sizes_each = 3;

/// Compiles a graph and runs it at three sizes, with outputs in planned memory and in the caller's. Returns the first
/// difference from the interpreter, or the output written beyond its end.
std::string check(std::uint64_t seed, const Context& context, const CompileOptions& options,
                  const RandomGraphOptions& of_graph = {}) {
    const Graph graph = random_graph(seed, of_graph);
    const double bound = error_bound_of(of_graph.dtype);
    const runtime::ProgramSet set = runtime::parse_program_set(compile(graph, context, options).program());
    for (const auto& sizes : random_sizes(*graph.data(), sizes_each, seed)) {
        interpreter::Inputs inputs = random_inputs(*graph.data(), sizes, seed + 17);
        const interpreter::Results expected = interpreter::interpret(*graph.data(), inputs);
        CompiledRun run(set, context, inputs);
        if (const std::string fault = compare(run.run(inputs), expected, bound); !fault.empty()) return fault;
        std::vector<std::string> overrun;
        const interpreter::Results again = run.run_in_callers_memory(inputs, overrun);
        if (const std::string fault = compare(again, expected, bound); !fault.empty())
            return fault + ", in the caller's memory";
        if (!overrun.empty()) return overrun[0] + " was written beyond the caller's memory";
    }
    return {};
}

// In shards that run in parallel.
class RandomGraphs : public testing::TestWithParam<int> {};

TEST_P(RandomGraphs, EqualTheInterpreterAtThreeSizes) {
    constexpr int shards = 8;
    const Context one, two({.threads = 2});
    for (int i = GetParam(); i < graphs; i += shards) {
        const auto seed = static_cast<std::uint64_t>(i);
        try {
            ASSERT_EQ(check(seed, i % 3 == 0 ? two : one, {.verify = true}), "") << "seed " << seed << '\n'
                                                                                 << to_string(random_graph(seed));
        } catch (const Error& error) {
            FAIL() << "seed " << seed << ": " << error.what() << '\n' << to_string(random_graph(seed));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomGraphs, testing::Range(0, 8));

TEST(RandomGraphs, EachStageCanBeSwitchedOff) {
    const Context context;
    for (const std::string& stage : stage_names())
        for (std::uint64_t seed = 5000; seed < 5040; ++seed) {
            CompileOptions options;
            options.disable = {stage};
            options.verify = true;
            EXPECT_EQ(check(seed, context, options), "") << stage << " off, seed " << seed;
        }
}

TEST(RandomGraphs, OfSixteenBitFloatsEqualTheInterpreterWithAnyKernels) {
    const Context all, reference({.reference_only = true});
    for (const DType dtype : {DType::f16, DType::bf16})
        for (std::uint64_t seed = 7000; seed < 7120; ++seed) {
            EXPECT_EQ(check(seed, all, {.verify = true}, {.dtype = dtype}), "") << "seed " << seed;
            EXPECT_EQ(check(seed, all, {.disable = {"fuse"}}, {.dtype = dtype}), "") << "without fuse, seed " << seed;
            EXPECT_EQ(check(seed, all, {.disable = {"simplify"}}, {.dtype = dtype}), "")
                << "without simplify, seed " << seed;
            EXPECT_EQ(check(seed, reference, {}, {.dtype = dtype}), "") << "reference kernels, seed " << seed;
        }
}

// Weights in blocks of a file, of which programs keep codes.
TEST(RandomGraphs, OfQuantizedWeightsEqualTheInterpreter) {
    const Context one, two({.threads = 2});
    const RandomGraphOptions of_graph{.steps = 14, .blocks = true};
    for (std::uint64_t seed = 8000; seed < 8160; ++seed) {
        EXPECT_EQ(check(seed, seed % 3 == 0 ? two : one, {.verify = true}, of_graph), "") << "seed " << seed;
        if (seed % 4 != 0) continue;
        EXPECT_EQ(check(seed, one, {.disable = {"simplify"}}, of_graph), "") << "without simplify, seed " << seed;
    }
}

TEST(RandomGraphs, ReferenceKernelsComputeAllOps) {
    ContextOptions options;
    options.reference_only = true;
    const Context context(options);
    for (std::uint64_t seed = 6000; seed < 6100; ++seed)
        EXPECT_EQ(check(seed, context, {.verify = true}), "") << "seed " << seed;
}

}  // namespace
}  // namespace cairn::test
