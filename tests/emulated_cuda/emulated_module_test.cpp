#include "tests/emulated_cuda/emulated_module.hpp"

#include "tests/emulated_cuda/prelude.hpp"
#include "tests/emulated_cuda/test_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

namespace cairn::emulated_cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct HostPair {
    int x;
    double y;
};

const EmulatedModule& sample_kernels() {
    static const EmulatedModule module = compiled({R"(
struct Pair {
    int x;
    double y;
};
__constant__ float table[4] = {1, 2, 3, 4};
extern "C" __global__ void parameters(char c, Pair pair, float* y) {
    y[threadIdx.x] = c + pair.x + float(pair.y) + table[threadIdx.x % 4];
}
extern "C" __global__ void places(int* y) {
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    y[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}
extern "C" __global__ void fresh(float* y) {
    __shared__ float tile[32];
    extern __shared__ float more[];
    y[threadIdx.x] = tile[threadIdx.x];
    y[32 + threadIdx.x] = more[threadIdx.x];
    tile[threadIdx.x] = more[threadIdx.x] = 1;
}
extern "C" __global__ void order(int* next, int* y) { y[atomicAdd(next, 1)] = threadIdx.x + 100 * blockIdx.x; }
)",
                                                   R"(
template <int n>
CAIRN_DEVICE int predicates(int predicate) {
    return __syncthreads_or(predicate) + 10 * __syncthreads_and(predicate) + 100 * __syncthreads_count(predicate);
}
extern "C" __global__ void votes(int* y) {
    const int t = threadIdx.x;
    y[t] = predicates<0>(t < 40);
    y[64 + t] = __ballot_sync(all_lanes, t % 2) + __any_sync(all_lanes, t == 1) + __all_sync(all_lanes, t < 32);
    y[128 + t] = __shfl_up_sync(all_lanes, t, 1, 8) + 1000 * __shfl_down_sync(all_lanes, t, 1, 8);
    y[192 + t] = __shfl_sync(all_lanes, t, 3, 16);
    atomicMax(y + 256, t);
    atomicCAS(y + 257, 0, t + 1);
}
)"});
    return module;
}

TEST(EmulatedModule, ParametersAndConstants) {
    std::vector<float> y(8);
    float* py = y.data();
    char c = 100;
    HostPair pair{20, 0.5};
    GlobalMemory memory;
    memory.add("y", py, 32);
    sample_kernels().launch({.entry = "parameters", .block = {8, 1, 1}, .arguments = {&c, &pair, &py}}, memory, 1);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(y[i], 121.5f + static_cast<float>(i % 4));
}

TEST(EmulatedModule, GridsAndBlocksHaveThreeDimensions) {
    std::vector<int> y(24 * 30, -1);
    int* py = y.data();
    sample_kernels().launch({.entry = "places", .grid = {2, 3, 4}, .block = {5, 3, 2}, .arguments = {&py}}, 1);
    for (int i = 0; i < 720; ++i) EXPECT_EQ(y[i], i / 30 * 1000 + i % 30);
}

TEST(EmulatedModule, FreshSharedMemoryIsNaN) {
    std::vector<float> y(64);
    float* py = y.data();
    // A block after another finds no values of that one.
    sample_kernels().launch(
        {.entry = "fresh", .grid = {2, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 128, .arguments = {&py}}, 1);
    for (float value : y) EXPECT_TRUE(std::isnan(value));
}

TEST(EmulatedModule, TheSeedDeterminesTheOrder) {
    const auto order = [](std::uint64_t seed) {
        std::vector<int> y(256);
        int next = 0;
        int *pn = &next, *py = y.data();
        sample_kernels().launch({.entry = "order", .grid = {4, 1, 1}, .block = {64, 1, 1}, .arguments = {&pn, &py}},
                                seed);
        return y;
    };
    EXPECT_EQ(order(1), order(1));
    std::set<std::vector<int>> orders;
    std::set<int> first;
    for (int seed = 0; seed < 50; ++seed) {
        orders.insert(order(seed));
        first.insert(order(seed).front() / 100);
    }
    EXPECT_EQ(orders.size(), 50u);
    EXPECT_EQ(first.size(), 4u);  // each block has come first
}

TEST(EmulatedModule, BlocksAndWarpsVote) {
    for (int seed = 0; seed < 5; ++seed) {
        std::vector<int> y(258);
        int* py = y.data();
        sample_kernels().launch({.entry = "votes", .block = {64, 1, 1}, .arguments = {&py}}, seed);
        for (int t = 0; t < 64; ++t) {
            EXPECT_EQ(y[t], 1 + 4000);
            EXPECT_EQ(static_cast<unsigned>(y[64 + t]), 0xaaaaaaaau + (t < 32 ? 2 : 0));
            EXPECT_EQ(y[128 + t], (t % 8 == 0 ? t : t - 1) + 1000 * (t % 8 == 7 ? t : t + 1));
            EXPECT_EQ(y[192 + t], t / 16 * 16 + 3);
        }
        EXPECT_EQ(y[256], 63);
        EXPECT_GT(y[257], 0);
    }
}

TEST(EmulatedModule, CompilerMessagesAreReported) {
    try {
        compiled({"extern \"C\" __global__ void wrong() { this_is_not_declared(); }\n"});
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("this_is_not_declared"), HasSubstr("text 0:")));
    }
}

TEST(EmulatedModule, FaultsNameTheLine) {
    float* y = nullptr;
    GlobalMemory memory;
    try {
        sample_kernels().launch({.entry = "order", .block = {1, 1, 1}, .arguments = {&y, &y}}, memory, 3);
        FAIL();
    } catch (const KernelFault& fault) {
        // Lines are those of the text with the prelude.
        const std::string text = with_prelude(CAIRN_SOURCE_DIR, "");
        const auto line = std::count(text.begin(), text.end(), '\n') + 22;
        EXPECT_THAT(fault.what(), AllOf(HasSubstr("kernel 'order', seed 3, block (0, 0, 0), thread (0, 0, 0): updates"),
                                        HasSubstr(", at line " + std::to_string(line))));
    }
}

TEST(EmulatedModule, LaunchesThatCannotBeAreRefused) {
    float* y = nullptr;
    const auto refusal = [&](const EmulatedLaunch& launch) -> std::string {
        try {
            sample_kernels().launch(launch, 1);
        } catch (const std::invalid_argument& error) { return error.what(); }
        return "";
    };
    EXPECT_THAT(refusal({.entry = "absent"}), HasSubstr("launch of 'absent': there is no such kernel"));
    EXPECT_THAT(refusal({.entry = "fresh"}), HasSubstr("0 arguments for 1 parameters"));
    EXPECT_THAT(refusal({.entry = "fresh", .block = {1025, 1, 1}, .arguments = {&y}}), HasSubstr("a block of 1025"));
    EXPECT_THAT(refusal({.entry = "fresh", .grid = {6, 1, 1}, .cluster = 4, .arguments = {&y}}),
                HasSubstr("clusters of 4 in a grid of 6"));
    EXPECT_THAT(refusal({.entry = "fresh", .shared_bytes = 300000, .arguments = {&y}}), HasSubstr("300000 bytes"));
}

TEST(EmulatedModule, BuffersDoNotOverlap) {
    std::vector<float> x(16);
    GlobalMemory memory;
    memory.add("x", x.data(), 32);
    memory.add("y", x.data() + 8, 32);
    EXPECT_THROW(memory.add("z", x.data() + 4, 4), std::invalid_argument);
}

}  // namespace
}  // namespace cairn::emulated_cuda
