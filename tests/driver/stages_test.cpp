#include "cairn/cairn.hpp"
#include "cairn/models/gpt2.hpp"
#include "tests/driver/own_kernels.hpp"
#include "tests/errors/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

namespace cairn {
namespace {

Graph small_graph() {
    Graph g("small");
    const Dim n = g.symbol("N", 1, 64);
    const Tensor x = g.input("x", DType::f32, {n, 16});
    g.output("y", softmax(gelu(x * 2.0f) + x));
    return g;
}

using test::message;

TEST(Stages, AreDumpedInOrder) {
    const std::filesystem::path folder = std::filesystem::path(CAIRN_BINARY_DIR) / "dumped_stages";
    std::filesystem::remove_all(folder);
    CompileOptions options;
    options.dump_stages = folder;
    options.splits = {{"N", {1}}};
    compile(small_graph(), Context(), options);
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, (std::vector<std::string>{"N-1-1_01_graph.txt", "N-1-1_02_simplify.txt", "N-1-1_04_fuse.txt",
                                               "N-1-1_05_select.txt", "N-1-1_06_emit.txt", "N-1-1_07_plan.txt",
                                               "N-2-64_01_graph.txt", "N-2-64_02_simplify.txt", "N-2-64_04_fuse.txt",
                                               "N-2-64_05_select.txt", "N-2-64_06_emit.txt", "N-2-64_07_plan.txt"}));
    std::ifstream file(folder / "N-2-64_04_fuse.txt");
    const std::string tiles{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(tiles.find("gelu"), std::string::npos);
    EXPECT_NE(tiles.find("softmax"), std::string::npos);
}

TEST(Stages, AnUnknownNameIsRefused) {
    EXPECT_EQ(message([] { compile(small_graph(), Context(), {.disable = {"magic"}}); }),
              "[compile] there is no stage called \"magic\"");
    EXPECT_EQ(message([] {
                  compile(small_graph(), Context(), {.splits = {{"M", {1}}}});
              }),
              "[compile] a split names the unknown symbol M");
    const auto weighted = [](std::vector<double> weights) {
        return message([&] { compile(small_graph(), Context(), {.splits = {{"N", {1}, weights}}}); });
    };
    EXPECT_EQ(weighted({1, 2}), "nothing was thrown");
    EXPECT_EQ(weighted({1}), "[compile] the split of N makes 2 buckets and has 1 weights");
    EXPECT_EQ(weighted({1, 0}), "[compile] a weight of the split of N is 0: it must be above 0");
    EXPECT_EQ(weighted({-1, 1}), "[compile] a weight of the split of N is -1: it must be above 0");
    EXPECT_EQ(weighted({1, std::numeric_limits<double>::infinity()}),
              "[compile] a weight of the split of N is inf: it must be above 0");
    EXPECT_EQ(message([] { compile(Graph("empty"), Context()); }), "[compile] graph \"empty\" has no output");
}

TEST(Stages, ACopyToAMissingDeviceIsRefused) {
    Graph g("g");
    const Tensor x = g.input("x", DType::f32, {4});
    g.output("here", copy_to(x, Device::cpu) + 1);
    EXPECT_NO_THROW(compile(g, Context()));
    g.output("there", exp(copy_to(x, Device::cuda())));
    const std::string line = std::to_string(__LINE__ - 1);
    EXPECT_EQ(message([&] { compile(g, Context()); }),
              "[copy_to] this Context has no device cuda (stages_test.cpp:" + line + ")");
}

TEST(Stages, AnInvalidTuningTimeIsRefused) {
    const Graph graph = small_graph();
    for (const double seconds :
         {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300}) {
        CompileOptions options;
        options.tune_seconds = seconds;
        EXPECT_THROW(compile(graph, Context(), options), Error) << seconds;
    }
}

TEST(Stages, AnInvalidCostOfAKeptByteIsRefused) {
    for (const double price : {-1e-12, std::numeric_limits<double>::infinity(), std::nan("")})
        EXPECT_EQ(message([&] {
                      compile(small_graph(), Context(), {.seconds_per_kept_byte = price});
                  }).rfind("[compile] seconds_per_kept_byte must be finite and not below 0", 0),
                  0U)
            << price;
}

TEST(Stages, NegativeStepsOfTheMemoryPlanAreRefused) {
    EXPECT_EQ(message([] { compile(small_graph(), Context(), {.memory_plan_steps = -1}); }),
              "[compile] memory_plan_steps must not be below 0, got -1");
    compile(small_graph(), Context(), {.memory_plan_steps = 0});
}

template <bool packed>
Kernel product_for(bool one_row) {
    Kernel kernel;
    kernel.id = packed ? "test.packed.matmul.f32@1" : "test.stored.matmul.f32@1";
    kernel.definition = "matmul";
    kernel.accepts = [](const Problem& problem) -> Refusal {
        return problem.inputs[1].layout.empty() == packed ? "needs its weight in the other form" : "";
    };
    const auto rows_only = [](const Problem& problem) {
        return Cost{problem.inputs[0].shape[0].constant() > 1 ? 1 : 1e12, 1, 1};
    };
    const auto row_only = [](const Problem& problem) {
        return Cost{problem.inputs[0].shape[0].constant() > 1 ? 1e12 : 1, 1, 1};
    };
    if (one_row)
        kernel.cost = row_only;
    else
        kernel.cost = rows_only;
    if (packed) kernel.packed_inputs = {{1, cpu_kernels().layouts[0].name}};
    kernel.run = [](const Args&, Team&) {};
    return kernel;
}

// A weight for which the layout as stored is fastest for one row, and the packed one for many.
TEST(Stages, TheCostOfAKeptByteDecidesHowManyLayoutsAreKept) {
    Graph graph("forms");
    graph.output("y", matmul(graph.input("x", DType::f32, {graph.symbol("N", 1, 512), 256}),
                             graph.weight("w", DType::f32, {256, 256})));
    const Context context = test::context_with({product_for<false>(true), product_for<true>(false)});
    const auto kept = [&](double price) {
        CompileOptions options;
        options.splits = {{"N", {1}}};
        options.seconds_per_kept_byte = price;
        const MemoryReport memory = compile(graph, context, options).memory();
        return memory.weights + memory.bound;
    };
    constexpr std::int64_t bytes = 256 * 256 * 4;
    EXPECT_EQ(kept(0), 2 * bytes);
    EXPECT_EQ(kept(1e-3), bytes);
}

TEST(Stages, AStopRequestCancelsBetweenStages) {
    std::stop_source source;
    CompileOptions options;
    options.stop = source.get_token();
    std::vector<std::string> phases;
    options.progress = [&](const Progress& progress) {
        phases.emplace_back(progress.phase);
        if (progress.phase == "fuse") source.request_stop();
    };
    EXPECT_THROW(compile(small_graph(), Context(), options), Cancelled);
    EXPECT_EQ(phases, (std::vector<std::string>{"graph", "simplify", "expand", "fuse"}));
}

// Its layers are equal, and the programs of three buckets share the layouts of its weights.
TEST(Stages, Gpt2IsSelectedExactly) {
    const std::filesystem::path folder = std::filesystem::path(CAIRN_BINARY_DIR) / "dumped_gpt2_stages";
    models::Gpt2Config config;
    for (const std::int64_t layers : {6, 12, 24}) {
        config.layers = layers;
        std::filesystem::remove_all(folder);
        CompileOptions options;
        options.splits = {{"T", {1, 12}}};
        options.dump_stages = folder;
        compile(models::gpt2_graph(config, models::gpt2_weights(config)), Context(), options);
        int seen = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            if (entry.path().filename().string().ends_with("_select.txt")) {
                std::ifstream file(entry.path());
                std::string line;
                std::getline(file, line);
                EXPECT_NE(line.find("expected"), line.npos) << line;
                EXPECT_EQ(line.find("not exact"), line.npos) << layers << " layers: " << line;
                ++seen;
            }
        EXPECT_EQ(seen, 3);
    }
}

TEST(Stages, ALimitOneByteTooSmallIsRefusedWithTheNumberNeeded) {
    const Context context;
    const MemoryReport memory = compile(small_graph(), context).memory();
    const std::int64_t needed = memory.bound + memory.states + memory.arena + memory.constants;
    ASSERT_GT(needed, 0);
    CompileOptions options;
    options.memory_limit = needed;
    compile(small_graph(), context, options);
    options.memory_limit = needed - 1;
    const std::string text = message([&] { compile(small_graph(), context, options); });
    EXPECT_EQ(text.substr(0, text.find(" bytes")), "[compile] " + std::to_string(needed));
}

TEST(Stages, ExplainNamesEveryCandidateWithTimeOrReason) {
    const std::string text = details(compile(small_graph(), Context({.features = levels::baseline})).explain());
    EXPECT_NE(text.find("refused: needs avx2, in use is baseline"), std::string::npos) << text;
    EXPECT_NE(text.find("s estimated"), std::string::npos);
}

}  // namespace
}  // namespace cairn
