#include "driver/cuda_devices.hpp"

#include "cairn/cairn.hpp"
#include "cairn/models/encoder.hpp"
#include "cairn/models/gpt2.hpp"
#include "driver/make_context.hpp"
#include "graph/ir/state_dtype_cast.hpp"
#include "program/program.hpp"
#include "runtime/compiled_graph.hpp"
#include "tests/device/private_memory_backend.hpp"
#include "tests/device/text_backend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::driver {
namespace {

DeviceRates rates_of(int index) { return {Device::cuda(index), 1e13, 1e12, 1e-6, 1e10, 1e-5}; }

std::ptrdiff_t kernels_of(const KernelSet& set, std::string_view definition) {
    return std::ranges::count(set.kernels, definition, &Kernel::definition);
}

TEST(CudaDevices, KernelsNeedTheComputeCapability) {
    const KernelSet newest = kernels_for_cuda(rates_of(2), 90), newer = kernels_for_cuda(rates_of(2), 80),
                    older = kernels_for_cuda(rates_of(2), 70);
    EXPECT_GT(newest.kernels.size(), 40U);
    for (const Kernel& kernel : newest.kernels) EXPECT_EQ(kernel.device, Device::cuda(2)) << kernel.id;
    EXPECT_EQ(kernels_of(newest, "mlp_block"), 1);
    EXPECT_EQ(kernels_of(newer, "mlp_block"), 0) << "clusters need 9.0";
    EXPECT_GT(kernels_of(newer, "matmul"), 0);
    ASSERT_EQ(older.kernels.size(), 1U) << "copies need none";
    EXPECT_EQ(older.kernels[0].definition, "copy_to");
}

TEST(CudaDevices, TwoOfThemShareDefinitionsAndLayouts) {
    std::vector<DeviceBackend> devices;
    for (const int index : {0, 1})
        devices.push_back({Device::cuda(index),
                           std::make_unique<test::PrivateMemoryBackend>(1, std::numeric_limits<std::int64_t>::max(),
                                                                        Device::cuda(index)),
                           kernels_for_cuda(rates_of(index), 90)});
    const Context context = make_context({}, std::move(devices));
    const KernelSet& set = context.kernels();
    EXPECT_EQ(set.devices.size(), 2U);
    EXPECT_EQ(kernels_of(set, "mlp_block"), 2);
    EXPECT_EQ(std::ranges::count(set.definitions, "mlp_block", &Definition::name), 1);
    EXPECT_EQ(std::ranges::count(set.layouts, "partial_sums", &Layout::name), 1);
}

/// The programs of a graph, by the rates of an H100.
std::vector<program::Program> programs_of(const Graph& graph, const CompileOptions& options) {
    DeviceRates h100{Device::cuda(), 5e13, 3e12, 1e-6, 5e10, 1e-5};
    h100.step_seconds = 5e-7;
    h100.arithmetic_flops[static_cast<std::size_t>(Arithmetic::bf16)] = 5e14;
    auto backend = std::make_unique<test::TextBackend>();
    backend->accepts_all_texts = true;
    std::vector<DeviceBackend> devices;
    devices.push_back({Device::cuda(), std::move(backend), kernels_for_cuda(h100, 90)});
    runtime::ProgramSet set =
        runtime::parse_program_set(compile(graph, make_context({}, std::move(devices)), options).program());
    std::vector<program::Program> programs;
    for (runtime::BucketProgram& bucket : set.buckets) programs.push_back(std::move(bucket.program));
    return programs;
}

/// The program of a GPT-2 for one token.
program::Program token_program(const Graph& graph) {
    return programs_of(graph, {.splits = {{"T", {1}}}, .seconds_per_kept_byte = 0}).front();
}

std::map<std::string, std::vector<Problem>> problems_of(const program::Program& program) {
    std::map<std::string, std::vector<Problem>> problems;
    for (const program::Instruction& instruction : program.run)
        problems[instruction.problem->definition].push_back(*instruction.problem);
    return problems;
}

// Ids in, two embeddings and their sum; two kernels a layer; norm, product, and logits out.
TEST(CudaDevices, ATokenOfGpt2IsTwoKernelsALayer) {
    const models::Gpt2Config config;
    const program::Program program = token_program(models::gpt2_graph(config, models::gpt2_weights(config)));
    const auto problems = problems_of(program);
    EXPECT_EQ(problems.at("attention_block").size(), static_cast<std::size_t>(config.layers));
    EXPECT_EQ(problems.at("mlp_block").size(), static_cast<std::size_t>(config.layers));
    EXPECT_LE(program.run.size(), 2 * config.layers + 5U) << program::to_string(program);
}

// All layers of a program are alike, although three programs share their weights.
TEST(CudaDevices, ATokenOfGpt2IsTwoKernelsALayerBesideProgramsForMoreTokens) {
    const models::Gpt2Config config;
    for (const DType dtype : {DType::f32, DType::f16}) {
        auto weights = models::gpt2_weights(config);
        for (models::WeightSpec& weight : weights) weight.dtype = dtype;
        const auto programs = programs_of(models::gpt2_graph(config, weights), {.splits = {{"T", {1, 12}}}});
        ASSERT_EQ(programs.size(), 3U);
        const auto problems = problems_of(programs[0]);
        ASSERT_EQ(problems.count("attention_block") * problems.count("mlp_block"), 1U) << to_string(dtype);
        EXPECT_EQ(problems.at("attention_block").size(), static_cast<std::size_t>(config.layers)) << to_string(dtype);
        EXPECT_EQ(problems.at("mlp_block").size(), static_cast<std::size_t>(config.layers)) << to_string(dtype);
        // The search is cut off, and may miss the factors of the last norm.
        EXPECT_LE(programs[0].run.size(), 2 * config.layers + 7U) << program::to_string(programs[0]);
    }
}

// Weights are on the device, embeddings and biases too: nothing of the texts is computed on the CPU, and bodies of
// products add the biases. The last product, of a row for each text, may be.
TEST(CudaDevices, ADistilBertOfHalvesIsOnTheDevice) {
    const models::EncoderConfig config = models::EncoderConfig::distilbert_base();
    auto weights = models::encoder_weights(config);
    for (models::WeightSpec& weight : weights) weight.dtype = DType::f16;
    for (const std::int64_t batch : {8, 32}) {
        const program::Program program = programs_of(models::encoder_graph(config, weights, batch), {}).front();
        EXPECT_LE(program.run.size(), 14 * config.layers + 2U) << batch << program::to_string(program);
        std::ptrdiff_t biases = 0;
        for (const program::Instruction& instruction : program.run) {
            const Problem& problem = *instruction.problem;
            EXPECT_FALSE(instruction.kernel.starts_with("cpu.") && !(problem.outputs[0].shape.back() == Dim(2)))
                << instruction.kernel << to_string(problem);
            if (problem.definition == "elementwise" && problem.inputs[0].bound) ++biases;
        }
        EXPECT_LE(biases, 4) << program::to_string(program);
    }
}

// Each kernel reads its matrices, keys and values as they are stored; one more adds the row of the position.
TEST(CudaDevices, ATokenOfAGpt2OfHalvesReadsHalves) {
    const models::Gpt2Config config;
    auto weights = models::gpt2_weights(config);
    for (models::WeightSpec& weight : weights) weight.dtype = DType::f16;
    const Graph graph = models::gpt2_graph(config, weights);
    const auto stored = ir::cast_stored_states(*graph.data(), DType::f16);
    for (ir::StateInfo& state : stored->states()) state.public_dtype.reset();
    const program::Program program = token_program(Graph(stored));
    const auto problems = problems_of(program);
    EXPECT_LE(program.run.size(), 2 * config.layers + 6U) << program::to_string(program);
    ASSERT_EQ(problems.at("attention_block").size(), static_cast<std::size_t>(config.layers));
    ASSERT_EQ(problems.at("mlp_block").size(), static_cast<std::size_t>(config.layers));
    for (const Problem& block : problems.at("attention_block"))
        for (const std::size_t input : {3, 5, 6, 7}) EXPECT_EQ(block.inputs[input].dtype, DType::f16) << input;
    for (const Problem& block : problems.at("mlp_block"))
        for (const std::size_t input : {3, 5}) EXPECT_EQ(block.inputs[input].dtype, DType::f16) << input;
    ASSERT_EQ(problems.count("matmul"), 1U) << program::to_string(program);
    EXPECT_EQ(problems.at("matmul")[0].inputs[1].dtype, DType::f16) << "the table, read by the product too";
}

}  // namespace
}  // namespace cairn::driver
