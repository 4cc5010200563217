// The right kernels with one synchronisation removed: each is found. And the order of dependent launches.
#include "tests/emulated_cuda/test_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::emulated_cuda {
namespace {

using testing::HasSubstr;

constexpr int orders = 20;

const char* const chain_kernels = R"(
extern "C" __global__ void triggers_after_wait(const float* x, float* y) {
    dependency_wait();
    trigger_dependents();
    y[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void triggers_before_wait(const float* x, float* y) {
    trigger_dependents();
    dependency_wait();
    y[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void never_waits(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void one_thread_waits(const float* x, float* y) {
    if (threadIdx.x == 0) dependency_wait();
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void reads_early(const float* x, float* y) {
    const float value = load_f32(x + threadIdx.x);
    dependency_wait();
    y[threadIdx.x] = value;
}
extern "C" __global__ void writes_early(const float* x, float* y) {
    y[threadIdx.x] = 0;
    dependency_wait();
    y[threadIdx.x] = x[threadIdx.x];
}
)";

const EmulatedModule& weakened_kernels() {
    static const EmulatedModule module = compiled(
        {replaced(sum_kernel, "    __syncthreads();\n", ""),
         replaced(softmax_kernel, "    __syncthreads();  // before the overwrite\n", ""),
         replaced(replaced(softmax_kernel, "    __syncthreads();  // before the read\n", ""), "void softmax",
                  "void softmax_2"),
         replaced(transpose_kernel, "    __syncthreads();\n", ""),
         replaced(handover_kernel, "if (step > 0) named_barrier_wait(2, 64);  // empty", ""),
         replaced(last_block_kernel, "        __threadfence();\n", ""),
         replaced(product_kernel, "        __syncthreads();  // all", "        // all"),
         replaced(replaced(product_kernel, "wait_copies<1>", "wait_copies<2>"), "void product", "void product_2"),
         replaced(bulk_kernel, "    __syncthreads();  // after the initialisation\n", ""),
         replaced(cluster_kernel, "    mbarrier_wait(&barrier, 0);\n", ""),
         replaced(mma_kernel, "        __syncwarp();  // before the read\n", ""),
         replaced(replaced(replaced(mma_kernel, "        __syncwarp();  // before the overwrite\n", ""),
                           "void multiply_f16", "void multiply_f16_2"),
                  "void multiply_bf16", "void multiply_bf16_2"),
         chain_kernels});
    return module;
}

/// Buffers of 4096 zeros, and the message of the fault of the last launch.
struct ZeroBuffers {
    std::vector<float> data = std::vector<float>(5 * 4096);
    std::array<float*, 5> buffers{};
    GlobalMemory memory;

    ZeroBuffers() {
        for (std::size_t i = 0; i < buffers.size(); ++i) {
            buffers[i] = data.data() + 4096 * i;
            memory.add("buffer " + std::to_string(i), buffers[i], 4096 * 4);
        }
    }
    std::string launch(const EmulatedLaunch& launch, std::uint64_t seed) {
        try {
            weakened_kernels().launch(launch, memory, seed);
        } catch (const KernelFault& fault) { return fault.what(); }
        return "";
    }
    /// Runs a kernel that reads buffer `from` and writes buffer `to`.
    std::string chain(const char* entry, int from, int to, bool is_dependent = true) {
        return launch({.entry = entry,
                       .grid = {1, 1, 1},
                       .block = {64, 1, 1},
                       .arguments = {&buffers[from], &buffers[to]},
                       .is_dependent = is_dependent},
                      1);
    }
};

TEST(RemovedSynchronisation, EachIsFound) {
    int n = 300, m = 33, k = 64, ka = 64, nb = 36, steps = 5;
    ZeroBuffers at;
    float **a = &at.buffers[0], **b = &at.buffers[1], **c = &at.buffers[2], **d = &at.buffers[3];
    const std::vector<EmulatedLaunch> launches = {
        {.entry = "sum_rows", .grid = {2, 1, 1}, .block = {256, 1, 1}, .arguments = {&n, a, b}},
        {.entry = "softmax", .grid = {2, 1, 1}, .block = {64, 1, 1}, .shared_bytes = 1200, .arguments = {&n, a, b}},
        {.entry = "softmax_2", .grid = {2, 1, 1}, .block = {64, 1, 1}, .shared_bytes = 1200, .arguments = {&n, a, b}},
        {.entry = "transpose", .grid = {2, 2, 1}, .block = {32, 8, 1}, .arguments = {&m, &m, a, b}},
        {.entry = "handover", .block = {64, 1, 1}, .arguments = {&steps, a, b}},
        {.entry = "sum_by_last_block", .grid = {10, 1, 1}, .block = {32, 1, 1}, .arguments = {&n, a, b, c, d}},
        {.entry = "product",
         .grid = {3, 3, 1},
         .block = {64, 1, 1},
         .shared_bytes = 6144,
         .arguments = {&m, &m, &k, &ka, &nb, a, b, c}},
        {.entry = "product_2",
         .grid = {3, 3, 1},
         .block = {64, 1, 1},
         .shared_bytes = 6144,
         .arguments = {&m, &m, &k, &ka, &nb, a, b, c}},
        {.entry = "bulk_twice", .block = {64, 1, 1}, .arguments = {a, b}},
        {.entry = "sum_by_cluster", .grid = {4, 1, 1}, .block = {32, 1, 1}, .cluster = 4, .arguments = {&n, a, b}},
        {.entry = "multiply_f16", .grid = {5, 3, 1}, .block = {32, 1, 1}, .arguments = {&m, &m, &m, a, b, c}},
        {.entry = "multiply_bf16_2", .grid = {5, 3, 1}, .block = {32, 1, 1}, .arguments = {&m, &m, &m, a, b, c}},
    };
    for (const EmulatedLaunch& launch : launches)
        for (int seed = 0; seed < orders; ++seed) {
            std::fill(at.data.begin(), at.data.end(), 0.0f);
            EXPECT_THAT(at.launch(launch, seed), HasSubstr("kernel '" + launch.entry + "', seed"));
        }
}

TEST(DependentLaunch, MayReadResultsAfterTheWait) {
    ZeroBuffers at;
    EXPECT_EQ(at.chain("triggers_after_wait", 0, 1), "");
    EXPECT_EQ(at.chain("triggers_after_wait", 1, 2), "");
    EXPECT_EQ(at.chain("one_thread_waits", 2, 3), "");
    EXPECT_EQ(at.chain("triggers_before_wait", 3, 0), "");
    EXPECT_EQ(at.chain("triggers_after_wait", 0, 1), "");
}

TEST(DependentLaunch, MayReadEarlyWhatNoRunningLaunchWrites) {
    ZeroBuffers at;
    EXPECT_EQ(at.chain("triggers_after_wait", 0, 1), "");
    EXPECT_EQ(at.chain("triggers_after_wait", 1, 2), "");
    EXPECT_EQ(at.chain("reads_early", 1, 3), "");  // the launch before has triggered after it had waited
    EXPECT_EQ(at.chain("triggers_before_wait", 4, 0), "");
    EXPECT_THAT(at.chain("reads_early", 3, 2),
                HasSubstr("reads before dependency_wait() what an earlier launch writes"));
}

TEST(DependentLaunch, EarlyAccessesAreFound) {
    ZeroBuffers at;
    EXPECT_EQ(at.chain("triggers_after_wait", 0, 1), "");
    EXPECT_THAT(at.chain("reads_early", 1, 2), HasSubstr("'buffer 1' at byte"));
    EXPECT_EQ(ZeroBuffers().chain("never_waits", 0, 1), "");
    ZeroBuffers other;
    EXPECT_EQ(other.chain("triggers_after_wait", 0, 1), "");
    EXPECT_THAT(other.chain("writes_early", 2, 0),
                HasSubstr("writes before dependency_wait() what an earlier launch reads: 'buffer 0'"));
    ZeroBuffers third;
    EXPECT_EQ(third.chain("triggers_after_wait", 0, 1), "");
    EXPECT_THAT(third.chain("never_waits", 1, 2), HasSubstr("before dependency_wait()"));
}

TEST(DependentLaunch, ALaunchThatNeverWaitsHidesTheOneBefore) {
    ZeroBuffers at;
    EXPECT_EQ(at.chain("triggers_after_wait", 0, 1), "");
    EXPECT_EQ(at.chain("never_waits", 3, 4), "");
    EXPECT_THAT(at.chain("triggers_after_wait", 1, 2), HasSubstr("'buffer 1'"));  // its wait is for never_waits only
}

TEST(DependentLaunch, OtherLaunchesAndTheHostWaitForAll) {
    ZeroBuffers at;
    EXPECT_EQ(at.chain("triggers_after_wait", 0, 1), "");
    EXPECT_EQ(at.chain("reads_early", 1, 2, false), "");
    at.memory.synchronize();
    EXPECT_EQ(at.chain("reads_early", 2, 3), "");
}

}  // namespace
}  // namespace cairn::emulated_cuda
