#include "driver/cuda_devices.hpp"

#include "cairn/cairn.hpp"
#include "cairn/models/gpt2.hpp"
#include "driver/make_context.hpp"
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

// By the rates of an H100: ids in, positions, two embeddings and their sum; two kernels a layer; the sum of the parts,
// norm, product, and logits out.
TEST(CudaDevices, ATokenOfGpt2IsTwoKernelsALayer) {
    const models::Gpt2Config config;
    const Graph graph = models::gpt2_graph(config, models::gpt2_weights(config));
    const DeviceRates h100{Device::cuda(), 5e13, 3e12, 1e-6, 5e10, 1e-5};
    auto backend = std::make_unique<test::TextBackend>();
    backend->accepts_all_texts = true;
    std::vector<DeviceBackend> devices;
    devices.push_back({Device::cuda(), std::move(backend), kernels_for_cuda(h100, 90)});
    const Context context = make_context({}, std::move(devices));
    const runtime::ProgramSet set = runtime::parse_program_set(
        compile(graph, context, {.splits = {{"T", {1}}}, .seconds_per_kept_byte = 0}).program());
    const auto of_one_token = std::ranges::min_element(
        set.buckets, {}, [](const runtime::BucketProgram& bucket) { return bucket.program.run.size(); });
    ASSERT_NE(of_one_token, set.buckets.end());
    std::map<std::string, int> counts;
    for (const program::Instruction& instruction : of_one_token->program.run) ++counts[instruction.problem->definition];
    EXPECT_EQ(counts["attention_block"], config.layers);
    EXPECT_EQ(counts["mlp_block"], config.layers);
    EXPECT_LE(of_one_token->program.run.size(), 2 * config.layers + 5U) << program::to_string(of_one_token->program);
}

}  // namespace
}  // namespace cairn::driver
