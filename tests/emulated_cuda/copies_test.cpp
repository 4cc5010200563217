// Right kernels with asynchronous copies, clusters, matrix fragments and dependent launches give right results in every
// order.
#include "graph/types/half.hpp"
#include "tests/emulated_cuda/test_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace cairn::emulated_cuda {
namespace {

const EmulatedModule& copy_kernels() {
    static const EmulatedModule module =
        compiled({product_kernel, bulk_kernel, cluster_kernel, mma_kernel, dependent_kernel});
    return module;
}

TEST(CopyKernels, ProductPipeline) {
    for (const auto& [rows, columns, depth] : {std::array{1, 1, 1}, std::array{17, 33, 50}, std::array{32, 16, 64}})
        for (int seed = 0; seed < 3; ++seed) {
            int m = rows, n = columns, k = depth, ka = (k + 3) / 4 * 4, nb = (n + 3) / 4 * 4;
            // Rows are padded to 16 bytes; padding is never added up.
            auto a = random_floats(m * ka, 1), b = random_floats(k * nb, 2), c = std::vector<float>(m * n);
            float *pa = a.data(), *pb = b.data(), *pc = c.data();
            GlobalMemory memory;
            memory.add("a", pa, a.size() * 4, GlobalMemory::read_only);
            memory.add("b", pb, b.size() * 4, GlobalMemory::read_only);
            memory.add("c", pc, c.size() * 4);
            copy_kernels().launch({.entry = "product",
                                   .grid = {tiles(n, 16), tiles(m, 16), 1},
                                   .block = {64, 1, 1},
                                   .shared_bytes = 3 * 512 * sizeof(float),
                                   .arguments = {&m, &n, &k, &ka, &nb, &pa, &pb, &pc}},
                                  memory, seed);
            for (int r = 0; r < m; ++r)
                for (int q = 0; q < n; ++q) {
                    double sum = 0;
                    for (int i = 0; i < k; ++i) sum += double{a[r * ka + i]} * b[i * nb + q];
                    EXPECT_NEAR(c[r * n + q], sum, 1e-5);
                }
        }
}

TEST(CopyKernels, BulkCopy) {
    for (int seed = 0; seed < 10; ++seed) {
        auto x = random_floats(192, 1), y = std::vector<float>(192);
        float *px = x.data(), *py = y.data();
        GlobalMemory memory;
        memory.add("x", px, 768, GlobalMemory::read_only);
        memory.add("y", py, 768);
        copy_kernels().launch({.entry = "bulk_twice", .grid = {3, 1, 1}, .block = {64, 1, 1}, .arguments = {&px, &py}},
                              memory, seed);
        for (int i = 0; i < 192; ++i) EXPECT_EQ(y[i], 2 * x[i]);
    }
}

TEST(CopyKernels, ClusterSum) {
    for (int n : {1, 127, 1000})
        for (int seed = 0; seed < 10; ++seed) {
            auto x = random_floats(n, 1), y = std::vector<float>(8);
            float *px = x.data(), *py = y.data();
            GlobalMemory memory;
            memory.add("x", px, x.size() * 4, GlobalMemory::read_only);
            memory.add("y", py, 32);
            copy_kernels().launch({.entry = "sum_by_cluster",
                                   .grid = {8, 1, 1},
                                   .block = {32, 1, 1},
                                   .cluster = 4,
                                   .arguments = {&n, &px, &py}},
                                  memory, seed);
            double sum = 0;
            for (float value : x) sum += value;
            for (int i = 0; i < 8; ++i) EXPECT_NEAR(y[i], sum, 1e-4);
            for (int i = 1; i < 8; ++i) EXPECT_EQ(y[i], y[0]);
        }
}

TEST(CopyKernels, MatrixFragments) {
    for (const bool is_bf16 : {false, true})
        for (const auto& [rows, columns, depth] : {std::array{1, 1, 1}, std::array{16, 8, 16}, std::array{33, 9, 35}}) {
            int m = rows, n = columns, k = depth;
            const auto rounded = [&](std::size_t count, std::uint32_t seed) {
                std::vector<std::uint16_t> halves;
                for (float value : random_floats(count, seed))
                    halves.push_back(is_bf16 ? types::f32_to_bf16(value) : types::f32_to_f16(value));
                return halves;
            };
            const auto value = [&](std::uint16_t half) {
                return double{is_bf16 ? types::bf16_to_f32(half) : types::f16_to_f32(half)};
            };
            auto a = rounded(m * k, 1), b = rounded(k * n, 2);
            std::vector<float> c(m * n);
            std::uint16_t *pa = a.data(), *pb = b.data();
            float* pc = c.data();
            GlobalMemory memory;
            memory.add("a", pa, a.size() * 2, GlobalMemory::read_only);
            memory.add("b", pb, b.size() * 2, GlobalMemory::read_only);
            memory.add("c", pc, c.size() * 4);
            copy_kernels().launch({.entry = is_bf16 ? "multiply_bf16" : "multiply_f16",
                                   .grid = {tiles(n, 8), tiles(m, 16), 1},
                                   .block = {32, 1, 1},
                                   .arguments = {&m, &n, &k, &pa, &pb, &pc}},
                                  memory, 1);
            for (int r = 0; r < m; ++r)
                for (int q = 0; q < n; ++q) {
                    double sum = 0;
                    for (int i = 0; i < k; ++i) sum += value(a[r * k + i]) * value(b[i * n + q]);
                    EXPECT_NEAR(c[r * n + q], sum, 2e-6) << r << " " << q;
                }
        }
}

TEST(CopyKernels, DependentLaunches) {
    int n = 100;
    auto w = random_floats(100, 1), x = random_floats(100, 2), y = std::vector<float>(100), z = y;
    float *pw = w.data(), *px = x.data(), *py = y.data(), *pz = z.data();
    GlobalMemory memory;
    memory.add("w", pw, 400);
    memory.add("x", px, 400);
    memory.add("y", py, 400);
    memory.add("z", pz, 400);
    const auto launch = [&](float** from, float** to, std::uint64_t seed) {
        copy_kernels().launch({.entry = "scale",
                               .grid = {2, 1, 1},
                               .block = {64, 1, 1},
                               .arguments = {&n, &pw, from, to},
                               .is_dependent = true},
                              memory, seed);
    };
    launch(&px, &py, 1);
    launch(&py, &pz, 2);
    launch(&pz, &px, 3);
    for (int i = 0; i < n; ++i) EXPECT_EQ(x[i], w[i] * z[i]);
    for (int i = 0; i < n; ++i) EXPECT_EQ(z[i], w[i] * y[i]);
}

}  // namespace
}  // namespace cairn::emulated_cuda
