#include "apps/cli/run_inputs.hpp"

#include "tests/apps/cli/cairn_command.hpp"
#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace cairn::cli {
namespace {

using testing::HasSubstr;

std::vector<float> output_of(const CompiledGraph& model, const char* name) {
    const OutputView view = model.output(name);
    const auto values = view.as<float>();
    return {values.begin(), values.end()};
}

std::vector<float> fed(const Graph& graph, const Options& options, const char* output) {
    CompiledGraph model = compile(graph, Context());
    const RunInputs run_inputs(graph, options);
    run_inputs.apply_to(model, {}, {});
    run_inputs.run(model, {});
    const std::vector<float> first = output_of(model, output);
    run_inputs.run(model, {});
    EXPECT_EQ(output_of(model, output), first) << "each run begins with the same states";
    return first;
}

Options sized(std::vector<std::string> sizes, std::uint64_t seed = 0) {
    Options options;
    options.sizes = std::move(sizes);
    options.seed = seed;
    return options;
}

TEST(RunInputs, ProvidesTheInputsOfAGraph) {
    const Graph graph = parse_graph(test::layer_text());
    const std::vector<float> y = fed(graph, {}, "y");
    EXPECT_EQ(y.size(), 3u * 16) << "the middle of 1..8";
    for (std::size_t row = 0; row < 3; ++row) {
        float sum = 0;
        for (std::size_t i = 0; i < 16; ++i) sum += y[row * 16 + i];
        EXPECT_NEAR(sum, 1, 1e-5);
    }
    EXPECT_EQ(fed(graph, {}, "y"), y);
    EXPECT_NE(fed(graph, sized({}, 1), "y"), y);
    EXPECT_EQ(fed(graph, sized({"N=8"}), "y").size(), 8u * 16);
}

TEST(RunInputs, StatesHaveTheRequestedLengths) {
    const Graph graph = parse_graph(test::chosen_rows_text());
    EXPECT_EQ(RunInputs(graph, {}).sizes_text(), "T = 2, past = 0");
    const std::vector<float> none = fed(graph, {}, "sum"), some = fed(graph, sized({"past=5"}), "sum");
    EXPECT_EQ(none.size(), 8u);
    EXPECT_NE(none, some);
    CompiledGraph model = compile(graph, Context());
    const RunInputs run_inputs(graph, sized({"past=5", "T=4"}));
    run_inputs.apply_to(model, {}, {});
    run_inputs.run(model, {});
    EXPECT_EQ(model.state("seen").shape[0], 9);
    run_inputs.run(model, {});
    EXPECT_EQ(model.state("seen").shape[0], 9);
    EXPECT_GT(run_inputs.time(model, {}), 0);
}

TEST(RunInputs, ReadsWeightsFromAFile) {
    const test::TempFolder temp;
    const std::vector<float> w(256, 0.25f), b(16, 1.0f);
    write_safetensors(temp / "w.safetensors",
                      {{"w", {w.data(), DType::f32, {16, 16}}}, {"b", {b.data(), DType::f32, {16}}}});
    Options options;
    options.weights = (temp / "w.safetensors").string();
    for (const float value : fed(parse_graph(test::layer_text()), options, "y")) EXPECT_NEAR(value, 1.0 / 16, 1e-6);
}

TEST(RunInputs, RefusesInvalidSizes) {
    const Graph graph = parse_graph(test::layer_text());
    EXPECT_THAT(test::message([&] { RunInputs(graph, sized({"M=1"})); }), HasSubstr("no size M"));
    EXPECT_THAT(test::message([&] { RunInputs(graph, sized({"N=0"})); }), HasSubstr("N = 0 is not in 1..8"));
}

}  // namespace
}  // namespace cairn::cli
