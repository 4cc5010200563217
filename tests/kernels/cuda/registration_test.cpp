#include "tests/kernels/cuda/kernel_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace cairn::kernels::cuda {
namespace {

TEST(CudaRegistration, RowsAreComplete) {
    std::set<std::string> ids;
    for (const Kernel& kernel : h100_kernels().kernels) {
        EXPECT_TRUE(ids.insert(kernel.id).second) << kernel.id;
        EXPECT_TRUE(kernel.accepts && kernel.code && kernel.cost) << kernel.id;
        EXPECT_FALSE(kernel.samples.empty()) << kernel.id;
        EXPECT_EQ(kernel.device, Device::cuda());
    }
}

// Samples are accepted at all sizes, and a launch is within the limits of a GPU.
TEST(CudaRegistration, SamplesAreAcceptedAtTheBoundsOfTheirSizes) {
    for (const Kernel& kernel : h100_kernels().kernels) {
        for (const std::string& sample : kernel.samples) {
            const auto symbols = Symbols::create();
            const Problem problem = parse_problem(sample, *symbols);
            ASSERT_EQ(kernel.accepts(problem), "") << kernel.id << " " << sample;
            const KernelCode code = kernel.code(problem);
            std::vector<std::int64_t> low, high;
            for (const auto& symbol : symbols->list()) low.push_back(symbol.low), high.push_back(symbol.high);
            for (const auto& sizes : {low, high}) {
                const Problem constant = sizes.empty() ? problem : at_sizes(problem, sizes);
                ASSERT_EQ(kernel.accepts(constant), "") << kernel.id << " " << sample;
                const Cost cost = kernel.cost(constant);
                EXPECT_TRUE(cost.flops >= 0 && cost.bytes >= 0 && cost.efficiency > 0 && cost.efficiency <= 1);
                // What the smallest of the devices of capability 8.0 and higher let a block have.
                const std::int64_t most = (kernel.compute_capability >= 90 ? 227 : 99) * 1024;
                EXPECT_LE(kernel.code(constant).shared_bytes.constant(), most);
                const std::int64_t blocks = code.grid[0].evaluate(sizes);
                EXPECT_TRUE(blocks >= 1 && blocks <= std::numeric_limits<std::int32_t>::max()) << sample;
                EXPECT_LE(code.shared_bytes.evaluate(sizes), most);
            }
        }
    }
}

// The id of the exact kernel with the lowest estimate.
std::string estimated_best(const std::string& text) {
    const auto symbols = Symbols::create();
    const Problem problem = parse_problem(text, *symbols);
    const KernelSet set = h100_kernels();
    const DeviceRates& rates = set.devices[0];
    double least = std::numeric_limits<double>::infinity();
    std::string best;
    for (const Kernel& kernel : set.kernels) {
        if (kernel.definition != problem.definition || kernel.error || !kernel.accepts(problem).empty()) continue;
        const Cost cost = kernel.cost(problem);
        const double seconds = std::max(cost.flops / (rates.flops * cost.efficiency), cost.bytes / rates.bandwidth);
        if (seconds < least) least = seconds, best = kernel.id;
    }
    return best;
}

TEST(CudaRegistration, EstimatesTellFewRowsFromMany) {
    EXPECT_EQ(estimated_best("matmul | f32[1,768] f32[768,2304]! -> f32[1,2304]"), "cuda.product_rows.matmul.f32@1");
    EXPECT_EQ(estimated_best("matmul | f32[12,768] f32[768,768]! -> f32[12,768]"), "cuda.product_rows.matmul.f32@1");
    EXPECT_EQ(estimated_best("matmul | f32[128,768] f32[768,768]! -> f32[128,768]"),
              "cuda.product_tile32.matmul.f32@1");
    EXPECT_EQ(estimated_best("matmul | f32[1024,768] f32[768,3072]! -> f32[1024,3072]"),
              "cuda.product_tile64.matmul.f32@1");
    const std::string head = "attention causal=(1) scale=0.125 masked_score=-1e+30 | ";
    EXPECT_EQ(estimated_best(head + "f32[1,12,1,64] f32[1,12,700,64] f32[1,12,700,64] -> f32[1,12,1,64]"),
              "cuda.attention_query.attention.f32@1");
    EXPECT_EQ(estimated_best(head + "f32[1,12,512,64] f32[1,12,512,64] f32[1,12,512,64] -> f32[1,12,512,64]"),
              "cuda.attention_tile.attention.f32@1");
}

}  // namespace
}  // namespace cairn::kernels::cuda
