// Kernels with one fault each. All are found in every order of threads unless a test says otherwise.
#include "tests/emulated_cuda/test_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::emulated_cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// How a kernel with the parameters (const float* x, float* y), both of 256 floats, is launched.
struct Shape {
    unsigned block = 64, grid = 1, cluster = 1;
    std::size_t shared_bytes = 0;
    int seeds = 20;
};

struct Faulty {
    const char* name;
    std::string body;   // of a kernel
    const char* fault;  // a part of the message
    Shape shape = {};
};

std::string faulty_kernel(std::size_t number, const std::string& body) {
    return "extern \"C\" __global__ void faulty_" + std::to_string(number) +
           "(const float* x, float* y) {\n    const int t = threadIdx.x, lane = t % 32;\n" + body + "}\n";
}

/// The message of the fault, or an empty text.
std::string fault_of(const EmulatedModule& module, const std::string& entry, const Shape& shape, std::uint64_t seed) {
    // With gaps around: an access past a buffer would otherwise be one of the other, where an allocator has put it there.
    constexpr std::size_t gap = 64;
    std::vector<float> x = random_floats(256 + 2 * gap, 1), y(256 + 2 * gap);
    float *px = x.data() + gap, *py = y.data() + gap;
    GlobalMemory memory;
    memory.add("x", px, 1024, GlobalMemory::read_only);
    memory.add("y", py, 1024);
    try {
        module.launch({.entry = entry,
                       .grid = {shape.grid, 1, 1},
                       .block = {shape.block, 1, 1},
                       .cluster = shape.cluster,
                       .shared_bytes = shape.shared_bytes,
                       .arguments = {&px, &py}},
                      memory, seed);
    } catch (const KernelFault& fault) { return fault.what(); }
    return "";
}

const std::vector<Faulty>& faults() {
    static const std::vector<Faulty> kernels = {
        // Barriers
        {"no barrier before a read", "__shared__ float tile[64]; tile[t] = x[t]; y[t] = tile[63 - t];",
         "without synchronisation"},
        {"no barrier before an overwrite",
         "__shared__ float tile[64]; float sum = 0; for (int i = 0; i < 2; ++i) { tile[t] = x[t + 64 * i]; "
         "__syncthreads(); sum += tile[63 - t]; } y[t] = sum;",
         "without synchronisation"},
        {"__syncwarp in place of a block barrier",
         "__shared__ float tile[64]; tile[t] = x[t]; __syncwarp(); y[t] = tile[(t + 32) % 64];",
         "without synchronisation"},
        {"a shuffle in place of __syncwarp",
         "__shared__ float tile[64]; tile[t] = x[t]; float v = __shfl_xor_sync(all_lanes, x[t], 1); y[t] = tile[t ^ 1] "
         "+ v;",
         "without synchronisation"},
        {"halves of a warp that synchronise apart",
         "__shared__ float tile[32]; tile[t] = x[t]; __syncwarp(t < 16 ? 0xffffu : 0xffff0000u); y[t] = tile[31 - t];",
         "without synchronisation",
         {.block = 32}},
        {"an early exit past a barrier", "if (t >= 60) return; __syncthreads(); y[t] = x[t];",
         "60 threads wait in __syncthreads()"},
        {"a barrier that half of the block reaches", "if (t < 32) __syncthreads(); y[t] = x[t];",
         "32 threads wait in __syncthreads()"},
        {"different barriers", "if (t < 32)\n __syncthreads();\n else\n __syncthreads();\n y[t] = x[t];",
         "different barriers"},
        {"a named barrier of more threads than reach it", "if (t < 32) named_barrier_wait(1, 64); y[t] = x[t];",
         "32 threads wait in a named barrier"},
        {"a named barrier with two numbers of threads", "named_barrier_wait(1, t < 32 ? 32 : 64);",
         "named barrier 1 for"},
        {"no atomic operation",
         "__shared__ int count; if (t == 0) count = 0; __syncthreads(); count += 1; "
         "__syncthreads(); y[t] = count;",
         "without synchronisation"},
        // Warps
        {"a shuffle by half of a warp",
         "float v = x[t]; if (lane < 16) v += __shfl_xor_sync(all_lanes, v, 1); y[t] = v;",
         "threads wait in a shuffle"},
        {"a shuffle from outside of its mask",
         "float v = x[t]; if (lane < 16) v += __shfl_xor_sync(0xffffu, v, 16); y[t] = v;", "does not take part"},
        {"a mask without the caller", "y[t] = __shfl_xor_sync(0xffffu, x[t], 1);", "does not contain the calling lane"},
        {"a shuffle from a lane that does not exist",
         "y[t] = __shfl_xor_sync(all_lanes, x[t], 16);",
         "does not take part",
         {.block = 48}},
        {"lanes at different shuffles",
         "float v = x[t]; if (lane < 16)\n v += __shfl_xor_sync(all_lanes, v, 1);\n else\n v += "
         "__shfl_xor_sync(all_lanes, v, 2);\n y[t] = v;",
         "different things together"},
        {"__syncwarp by half of a warp", "if (lane < 16) __syncwarp(); y[t] = x[t];", "threads wait in __syncwarp()"},
        {"a lane that left before a ballot", "if (lane == 7) return; y[t] = __ballot_sync(all_lanes, lane);",
         "threads wait in a ballot"},
        // Bounds and alignment
        {"a read past a shared variable",
         "__shared__ float tile[64]; tile[t] = x[t]; __syncthreads(); const float* p = tile; y[t] = p[t + 1];",
         "'tile' of 256 bytes, at its byte 256 (index 64 of 4 bytes)"},
        {"a column past a row of a shared variable", "__shared__ float tile[4][16]; tile[t / 16][t % 16 + 1] = x[t];",
         "index 16 is outside of its array at line"},
        {"a read past a local array",
         "float v[4] = {x[0], x[1], x[2], x[3]}; for (int i = 0; i < t; ++i) v[i % 4] += 1; y[t] = v[t % 5];",
         "index 4 is outside of its array at line"},
        {"a write past dynamic shared memory",
         "extern __shared__ float tile[]; tile[t + 1] = x[t];",
         "'dynamic shared memory' of 256 bytes, at its byte 256 (index 64 of 4 bytes)",
         {.shared_bytes = 256}},
        {"a read past a buffer", "y[t] = x[193 + t];", "'x' of 1024 bytes, at its byte 1024 (index 256 of 4 bytes)"},
        {"a read before a buffer", "y[t] = x[t - 1];", "'x' of 1024 bytes, at its byte -4 (index -1 of 4 bytes)"},
        {"a write past a buffer", "y[t + 193] = 0;", "'y' of 1024 bytes, at its byte 1024 (index 256 of 4 bytes)"},
        {"a wide read past a buffer", "y[t] = __uint_as_float(load_16_bytes(x + 4 * (t + 1)).x);",
         "'x' of 1024 bytes, at its byte 1024 (index 64 of 16 bytes)"},
        {"a write to a read-only buffer", "const_cast<float*>(x)[t] = 0;", "writes a buffer that is read-only: 'x'"},
        {"a misaligned load of 16 bytes", "y[t] = __uint_as_float(load_16_bytes(x + 2 * t).x);",
         "misaligned access of 16 bytes"},
        {"16 bytes of a shared variable of floats",
         "__shared__ float tile[64]; *reinterpret_cast<float4*>(tile + t / 4 * 4) = make_float4(1, 2, 3, 4);",
         "misaligned access of",
         {.block = 1}},
        {"a misaligned asynchronous copy",
         "__shared__ __align__(16) float tile[80]; copy_16_bytes_async(tile + t, x + t * 4); commit_copies(); "
         "wait_copies<0>();",
         "misaligned access of 16 bytes"},
        {"a misaligned bulk copy",
         "__shared__ __align__(16) float tile[64]; __shared__ u64 barrier; mbarrier_init(&barrier, 1); "
         "copy_bulk_async(tile, x + 1, 64, &barrier);",
         "not aligned to 16",
         {.block = 1}},
        {"a misaligned row of a matrix",
         "__shared__ __align__(16) u16 tile[512]; for (int i = t; i < 512; i += 32) tile[i] = 0; __syncwarp(); u32 "
         "r[4]; load_matrices(r, tile + lane * 12); y[t] = r[0];",
         "misaligned access of 16 bytes",
         {.block = 32}},
        {"too much static shared memory", "__shared__ float tile[12289]; tile[t] = x[t];", "exceeds the limit"},
        // Blocks
        {"blocks that write the same element", "y[t] = x[t];", "what another block", {.grid = 2}},
        {"blocks that read one another's results",
         "y[blockIdx.x * 64 + t] = x[t]; y[128 + t] = y[t];",
         "what another block",
         {.grid = 2}},
        // Asynchronous copies
        {"no wait for copies",
         "__shared__ __align__(16) float tile[256]; copy_16_bytes_async(tile + 4 * t, x + 4 * t); commit_copies(); "
         "y[t] "
         "= tile[4 * t];",
         "an asynchronous copy of"},
        {"copies that are not committed",
         "__shared__ __align__(16) float tile[256]; copy_16_bytes_async(tile + 4 * t, x + 4 * t); wait_copies<0>(); "
         "y[t] = tile[4 * t];",
         "an asynchronous copy of"},
        {"a wait for too few groups",
         "__shared__ __align__(16) float tile[256]; copy_16_bytes_async(tile + 4 * t, x + 4 * t); commit_copies(); "
         "commit_copies(); wait_copies<2>(); y[t] = tile[4 * t];",
         "an asynchronous copy of"},
        {"a barrier before the wait for copies",
         "__shared__ __align__(16) float tile[256]; copy_16_bytes_async(tile + 4 * t, x + 4 * t); commit_copies(); "
         "__syncthreads(); wait_copies<0>(); y[t] = tile[4 * (63 - t)];",
         "an asynchronous copy of"},
        {"a copy over what others read",
         "__shared__ __align__(16) float tile[256]; tile[4 * t] = x[t]; __syncthreads(); y[t] = tile[4 * (63 - t)]; "
         "copy_16_bytes_async(tile + 4 * t, x); commit_copies(); wait_copies<0>();",
         "without synchronisation"},
        // mbarriers
        {"an mbarrier that waits for more bytes than come",
         "__shared__ __align__(16) float tile[64]; __shared__ u64 barrier; mbarrier_init(&barrier, 1); "
         "mbarrier_expect(&barrier, 272); copy_bulk_async(tile, x, 256, &barrier); mbarrier_wait(&barrier, 0);",
         "threads wait in mbarrier_wait()",
         {.block = 1}},
        {"an mbarrier without arrival",
         "__shared__ __align__(16) float tile[64]; __shared__ u64 barrier; mbarrier_init(&barrier, 1); "
         "copy_bulk_async(tile, x, 256, &barrier); mbarrier_wait(&barrier, 0);",
         "threads wait in mbarrier_wait()",
         {.block = 1}},
        {"no barrier after mbarrier_init",
         "__shared__ u64 barrier; if (t == 0) mbarrier_init(&barrier, 64); mbarrier_arrive(&barrier);", ""},
        {"no wait for a bulk copy",
         "__shared__ __align__(16) float tile[64]; __shared__ u64 barrier; mbarrier_init(&barrier, 1); "
         "mbarrier_expect(&barrier, 256); copy_bulk_async(tile, x, 256, &barrier); y[0] = tile[0];",
         "an asynchronous copy of",
         {.block = 1}},
        {"a wait for the wrong parity",
         "__shared__ __align__(16) float tile[64]; __shared__ u64 barrier; mbarrier_init(&barrier, 1); "
         "mbarrier_expect(&barrier, 256); copy_bulk_async(tile, x, 256, &barrier); mbarrier_wait(&barrier, 1); y[0] = "
         "tile[0];",
         "an asynchronous copy of",
         {.block = 1}},
        // Clusters
        {"a store to another block without a barrier",
         "__shared__ float value; value = 0; store_remote(map_shared(shared_address(&value), 1 - cluster_rank()), "
         "1.0f); cluster_arrive(); cluster_wait(); y[blockIdx.x] = value;",
         "",
         {.block = 1, .grid = 2, .cluster = 2}},
        {"a block that ends before others have read it",
         "__shared__ float value; value = 1; cluster_arrive(); cluster_wait(); y[blockIdx.x] = "
         "load_remote(map_shared(shared_address(&value), 1 - cluster_rank()));",
         "which has ended",
         {.block = 1, .grid = 2, .cluster = 2}},
        {"no barrier of the cluster after mbarrier_init",
         "__shared__ float value; __shared__ u64 barrier; mbarrier_init(&barrier, 1); mbarrier_init_fence(); "
         "mbarrier_expect(&barrier, 4); const u32 other = 1 - cluster_rank(); "
         "store_async(map_shared(shared_address(&value), other), 1.0f, map_shared(shared_address(&barrier), other)); "
         "mbarrier_wait(&barrier, 0);",
         "",
         {.block = 1, .grid = 2, .cluster = 2}},
        {"no fence before the relaxed arrival",
         "__shared__ float value; __shared__ u64 barrier; mbarrier_init(&barrier, 1); cluster_arrive_relaxed(); "
         "cluster_wait(); mbarrier_expect(&barrier, 4); const u32 other = 1 - cluster_rank(); "
         "store_async(map_shared(shared_address(&value), other), 1.0f, map_shared(shared_address(&barrier), other)); "
         "mbarrier_wait(&barrier, 0);",
         "without synchronisation",
         {.block = 1, .grid = 2, .cluster = 2}},
        {"a block of the cluster that does not arrive",
         "if (cluster_rank() == 0) { cluster_arrive(); cluster_wait(); } else while (load_f32(y) == 0.0f) {}",
         "an endless loop",
         {.block = 1, .grid = 2, .cluster = 2, .seeds = 2}},
        // Others
        {"a trap", "if (t == 3) __trap();", "thread (3, 0, 0): __trap()"},
        {"another thread's local variable",
         "__shared__ float* pointer; float mine = x[t]; if (t == 0) pointer = &mine; __syncthreads(); y[t] = *pointer; "
         "__syncthreads();",
         "local variable of"},
    };
    return kernels;
}

const EmulatedModule& faulty_kernels() {
    static const EmulatedModule compiled_once = [] {
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < faults().size(); ++i) texts.push_back(faulty_kernel(i, faults()[i].body));
        return compiled(texts);
    }();
    return compiled_once;
}

TEST(FaultyKernels, EachIsFound) {
    for (std::size_t i = 0; i < faults().size(); ++i) {
        const Faulty& fault = faults()[i];
        SCOPED_TRACE(fault.name);
        const std::string entry = "faulty_" + std::to_string(i);
        for (int seed = 0; seed < fault.shape.seeds; ++seed)
            EXPECT_THAT(
                fault_of(faulty_kernels(), entry, fault.shape, seed),
                AllOf(HasSubstr("kernel '" + entry + "', seed " + std::to_string(seed)), HasSubstr(fault.fault)))
                << "seed " << seed;
    }
}

}  // namespace
}  // namespace cairn::emulated_cuda
