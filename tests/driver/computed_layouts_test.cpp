#include "cairn/cairn.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/driver/layout_kernels.hpp"
#include "tests/graph/ir/random_graph.hpp"
#include "tests/graph/ir/reference_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

// Values in computed layouts, from compile to run: kernels write them, others read them, and copies convert them.
namespace cairn::test {
namespace {

using testing::HasSubstr;

runtime::ProgramSet programs_of(const Graph& graph, const Context& context, const CompileOptions& options = {}) {
    return runtime::parse_program_set(compile(graph, context, options).program());
}

/// The Problems of the run section of the first bucket.
std::vector<std::string> problems(const runtime::ProgramSet& set) {
    std::vector<std::string> texts;
    for (const program::Instruction& instruction : set.buckets[0].program.run)
        texts.push_back(to_string(*instruction.problem));
    return texts;
}

int count_with_layouts(const runtime::ProgramSet& set) {
    int count = 0;
    for (const runtime::BucketProgram& bucket : set.buckets)
        for (const program::Instruction& instruction : bucket.program.run)
            count += to_string(*instruction.problem).find("@parts.") == std::string::npos ? 0 : 1;
    return count;
}

/// Operands in a layout that are a reshape of what was written.
int count_reshapes(const runtime::ProgramSet& set) {
    int count = 0;
    for (const runtime::BucketProgram& bucket : set.buckets)
        for (const program::Instruction& instruction : bucket.program.run)
            for (std::size_t i = 0; i < instruction.inputs.size(); ++i) {
                const TensorDesc& read = instruction.problem->inputs[i];
                const auto buffer = static_cast<std::size_t>(instruction.inputs[i].buffer);
                count += !read.layout.empty() && read.shape != bucket.program.buffers[buffer].desc.shape ? 1 : 0;
            }
    return count;
}

std::string difference_at(const Graph& graph, const Context& context, const runtime::ProgramSet& set,
                          std::uint64_t seed) {
    for (const auto& sizes : random_sizes(*graph.data(), 2, seed)) {
        interpreter::Inputs inputs = random_inputs(*graph.data(), sizes, seed + 17);
        if (std::string fault =
                difference(CompiledRun(set, context, inputs).run(inputs), reference_results(*graph.data(), inputs));
            !fault.empty())
            return fault;
    }
    return {};
}

std::filesystem::path file(const std::string& name) {
    return std::filesystem::path(CAIRN_BINARY_DIR) / ("computed_layouts_" + name);
}

Graph product_and_exp() {
    Graph g("layouts");
    const Dim n = g.symbol("N", 0, 40);
    g.output("y", exp(matmul(g.input("a", DType::f32, {n, 6}), g.input("b", DType::f32, {6, 5}))));
    return g;
}

TEST(ComputedLayouts, AValueStaysInTheLayoutInWhichItIsWrittenAndIsCopiedForAnOutput) {
    const Context context(with_layout_kernels());
    const Graph g = product_and_exp();
    const runtime::ProgramSet set = programs_of(g, context, {.verify = true});
    EXPECT_EQ(problems(set), (std::vector<std::string>{
                                 "matmul | f32[N,6] f32[6,5] -> f32[N,5]@parts.3 where N in 0..40",
                                 "exp | f32[N,5]@parts.3 -> f32[N,5] where N in 0..40",
                             }));
    EXPECT_EQ(difference_at(g, context, set, 1), "");
    for (const program::Buffer& buffer : set.buckets[0].program.buffers)
        if (!buffer.desc.layout.empty()) { EXPECT_EQ(to_string(buffer.bytes), "60*N"); }
}

TEST(ComputedLayouts, AReaderOfPlainMemoryGetsACopy) {
    const Context context(with_layout_kernels());
    Graph g("layouts");
    const auto x = g.input("x", DType::f32, {3, 4});
    const auto y = matmul(x, g.input("w", DType::f32, {4, 4}));
    g.output("sum", exp(y));
    g.output("rows", cumsum(y, 1));
    const runtime::ProgramSet set = programs_of(g, context, {.verify = true});
    EXPECT_EQ(difference_at(g, context, set, 2), "");
}

TEST(ComputedLayouts, AReshapeIsInTheLayoutOfItsValue) {
    for (const bool holds : {true, false}) {
        ContextOptions options = with_layout_kernels();
        options.extra.layouts[0].holds_reshapes = holds;
        const Context context(std::move(options));
        Graph g("layouts");
        const Dim n = g.symbol("N", 0, 40);
        const Tensor y = matmul(g.input("a", DType::f32, {n, 5}), g.input("b", DType::f32, {5, 6}));
        g.output("y", matmul(reshape(y, {n, 2, 3}), g.input("c", DType::f32, {n, 3, 4})));
        const runtime::ProgramSet set = programs_of(g, context, {.verify = true});
        const std::vector<std::string> in_layout{
            "matmul | f32[N,5] f32[5,6] -> f32[N,6]@parts.3 where N in 0..40",
            "matmul | f32[N,2,3]@parts.3 f32[N,3,4] -> f32[N,2,4] where N in 0..40",
        };
        if (holds)
            EXPECT_EQ(problems(set), in_layout);
        else
            EXPECT_EQ(count_reshapes(set), 0);
        EXPECT_EQ(difference_at(g, context, set, 4), "");
    }
}

TEST(ComputedLayouts, ALayoutThatOnlyACopyReadsIsCopied) {
    ContextOptions options = with_layout_kernels();
    // The product writes parts alone.
    Kernel& product = options.extra.kernels[7];
    ASSERT_EQ(product.definition, "matmul");
    product.accepts = [](const Problem& problem) -> Refusal {
        return problem.outputs[0].layout.empty() ? "writes parts" : "";
    };
    const Context context(std::move(options));
    Graph g("layouts");
    g.output("y", matmul(g.input("x", DType::f32, {40, 500}), g.input("w", DType::f32, {500, 60})));
    const runtime::ProgramSet set = programs_of(g, context, {.verify = true});
    EXPECT_EQ(problems(set), (std::vector<std::string>{
                                 "matmul | f32[40,500] f32[500,60] -> f32[40,60]@parts.3",
                                 "copy | f32[40,60]@parts.3 -> f32[40,60]",
                             }));
    EXPECT_EQ(difference_at(g, context, set, 3), "");
}

TEST(ComputedLayouts, SavedProgramsNeedTheLayout) {
    const Context context(with_layout_kernels());
    const std::filesystem::path path = file("saved.cairn");
    CompiledGraph made = compile(product_and_exp(), context);
    made.save(path);
    CompiledGraph loaded = CompiledGraph::load(path, context);
    EXPECT_EQ(loaded.program(), made.program());
    const std::vector<float> a(12, 0.5f), b(30, 0.25f);
    for (CompiledGraph* graph : {&made, &loaded}) {
        graph->set("a", a.data(), {2, 6});
        graph->set("b", b.data(), {6, 5});
        graph->run();
    }
    const auto expected = made.output("y").as<float>(), actual = loaded.output("y").as<float>();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), actual.begin(), actual.end()));

    ContextOptions longer = with_layout_kernels();
    longer.extra.layouts[0].bytes = [](const TensorDesc& tensor) { return element_count(tensor.shape) * Dim(64); };
    try {
        CompiledGraph::load(path, Context(std::move(longer)));
        ADD_FAILURE() << "a program whose buffers are too small for the layout was loaded";
    } catch (const Error& error) { EXPECT_THAT(error.what(), HasSubstr("parts.3")); }
}

TEST(ComputedLayouts, ALockReplaysThem) {
    const Context context(with_layout_kernels());
    const std::filesystem::path path = file("replayed.lock");
    const CompiledGraph made = compile(product_and_exp(), context);
    made.write_lock(path);
    CompileOptions replay;
    replay.mode = Mode::replay;
    replay.lock = path;
    EXPECT_EQ(compile(product_and_exp(), context, replay).program(), made.program());
}

TEST(ComputedLayouts, WithoutASearchAllIsPlain) {
    const Context context(with_layout_kernels());
    EXPECT_EQ(count_with_layouts(programs_of(product_and_exp(), context, {.disable = {"search"}})), 0);
}

TEST(ComputedLayouts, AnUnknownLayoutIsAnError) {
    ContextOptions options = with_layout_kernels();
    for (Kernel& kernel : options.extra.kernels)
        if (kernel.definition == "matmul")
            kernel.output_layout = [](const Problem&, int) { return std::string("tiles"); };
    try {
        compile(product_and_exp(), Context(std::move(options)));
        ADD_FAILURE() << "compiled";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("kernel own.parts.matmul@1 writes \"tiles\", which is no layout"));
    }
}

// In shards that run in parallel.
class RandomLayouts : public testing::TestWithParam<int> {};

TEST_P(RandomLayouts, GraphsEqualTheInterpreter) {
    constexpr int graphs = 400, shards = 4;
    const Context context(with_layout_kernels());
    int in_layouts = 0, reshapes = 0;
    for (int i = GetParam(); i < graphs; i += shards) {
        const auto seed = static_cast<std::uint64_t>(i);
        const Graph graph = random_graph(seed, {});
        std::vector<runtime::ProgramSet> programs{programs_of(graph, context, {.verify = true})};
        const Paths all_paths = paths(graph, context);
        std::mt19937_64 random(seed);
        for (int sample = 0; sample < 2; ++sample)
            programs.push_back(runtime::parse_program_set(all_paths.sample(random).compile().program()));
        for (const runtime::ProgramSet& set : programs) {
            in_layouts += count_with_layouts(set) > 0 ? 1 : 0;
            reshapes += count_reshapes(set);
            ASSERT_EQ(difference_at(graph, context, set, seed), "")
                << "seed " << seed << '\n'
                << to_string(graph) << program::to_string(set.buckets[0].program);
        }
    }
    EXPECT_GE(in_layouts, graphs / shards / 2) << "programs that use the layout";
    EXPECT_GE(reshapes, 1);
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomLayouts, testing::Range(0, 4));

}  // namespace
}  // namespace cairn::test
