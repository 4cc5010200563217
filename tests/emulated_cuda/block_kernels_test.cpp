// Right kernels of one block each give right results in every order of threads.
#include "tests/emulated_cuda/test_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::emulated_cuda {
namespace {

const EmulatedModule& block_kernels() {
    static const EmulatedModule module =
        compiled({add_kernel, sum_kernel, softmax_kernel, transpose_kernel, handover_kernel, last_block_kernel});
    return module;
}

TEST(BlockKernels, Add) {
    for (int n : {1, 127, 128, 1001}) {
        auto x = random_floats(n, 1), y = random_floats(n, 2), z = std::vector<float>(n);
        float *px = x.data(), *py = y.data(), *pz = z.data();
        GlobalMemory memory;
        memory.add("x", px, x.size() * 4, GlobalMemory::read_only);
        memory.add("y", py, y.size() * 4, GlobalMemory::read_only);
        memory.add("z", pz, z.size() * 4);
        block_kernels().launch(
            {.entry = "add", .grid = {tiles(n, 128), 1, 1}, .block = {128, 1, 1}, .arguments = {&n, &px, &py, &pz}},
            memory, 1);
        for (int i = 0; i < n; ++i) EXPECT_EQ(z[i], x[i] + y[i]);
    }
}

TEST(BlockKernels, SumOfRows) {
    for (int n : {1, 255, 1000})
        for (int seed = 0; seed < 3; ++seed) {
            const int rows = 3;
            auto x = random_floats(rows * n, 1), y = std::vector<float>(rows);
            float *px = x.data(), *py = y.data();
            GlobalMemory memory;
            memory.add("x", px, x.size() * 4, GlobalMemory::read_only);
            memory.add("y", py, y.size() * 4);
            block_kernels().launch(
                {.entry = "sum_rows", .grid = {rows, 1, 1}, .block = {256, 1, 1}, .arguments = {&n, &px, &py}}, memory,
                seed);
            for (int r = 0; r < rows; ++r) {
                double sum = 0;
                for (int i = 0; i < n; ++i) sum += x[r * n + i];
                EXPECT_NEAR(y[r], sum, 1e-4);
            }
        }
}

TEST(BlockKernels, Softmax) {
    for (int n : {1, 65, 300})
        for (int seed = 0; seed < 3; ++seed) {
            const int rows = 2;
            auto x = random_floats(rows * n, 1), y = std::vector<float>(rows * n);
            float *px = x.data(), *py = y.data();
            GlobalMemory memory;
            memory.add("x", px, x.size() * 4, GlobalMemory::read_only);
            memory.add("y", py, y.size() * 4);
            block_kernels().launch({.entry = "softmax",
                                    .grid = {rows, 1, 1},
                                    .block = {64, 1, 1},
                                    .shared_bytes = n * sizeof(float),
                                    .arguments = {&n, &px, &py}},
                                   memory, seed);
            for (int r = 0; r < rows; ++r) {
                double sum = 0;
                for (int i = 0; i < n; ++i) sum += std::exp(double{x[r * n + i]});
                for (int i = 0; i < n; ++i) EXPECT_NEAR(y[r * n + i], std::exp(double{x[r * n + i]}) / sum, 1e-6);
            }
        }
}

TEST(BlockKernels, Transpose) {
    for (const auto& [rows, columns] : {std::pair{1, 1}, std::pair{33, 70}, std::pair{64, 31}})
        for (int seed = 0; seed < 3; ++seed) {
            int m = rows, n = columns;
            auto x = random_floats(m * n, 1), y = std::vector<float>(m * n);
            float *px = x.data(), *py = y.data();
            GlobalMemory memory;
            memory.add("x", px, x.size() * 4, GlobalMemory::read_only);
            memory.add("y", py, y.size() * 4);
            block_kernels().launch({.entry = "transpose",
                                    .grid = {tiles(n, 32), tiles(m, 32), 1},
                                    .block = {32, 8, 1},
                                    .arguments = {&m, &n, &px, &py}},
                                   memory, seed);
            for (int r = 0; r < m; ++r)
                for (int c = 0; c < n; ++c) EXPECT_EQ(y[c * m + r], x[r * n + c]);
        }
}

TEST(BlockKernels, NamedBarriersHandOver) {
    for (int seed = 0; seed < 10; ++seed) {
        int steps = 5;
        auto x = random_floats(160, 1), y = std::vector<float>(160);
        float *px = x.data(), *py = y.data();
        GlobalMemory memory;
        memory.add("x", px, 640, GlobalMemory::read_only);
        memory.add("y", py, 640);
        block_kernels().launch({.entry = "handover", .block = {64, 1, 1}, .arguments = {&steps, &px, &py}}, memory,
                               seed);
        for (int i = 0; i < 160; ++i) EXPECT_EQ(y[i], x[i / 32 * 32 + 31 - i % 32]);
    }
}

TEST(BlockKernels, LastBlockAddsUp) {
    for (int seed = 0; seed < 10; ++seed) {
        int n = 1000;
        auto x = random_floats(1000, 1), part = std::vector<float>(32), y = std::vector<float>(1);
        std::vector<unsigned> finished(1);
        float *px = x.data(), *pp = part.data(), *py = y.data();
        unsigned* pf = finished.data();
        GlobalMemory memory;
        memory.add("x", px, 4000, GlobalMemory::read_only);
        memory.add("part", pp, 128);
        memory.add("finished", pf, 4);
        memory.add("y", py, 4);
        block_kernels().launch({.entry = "sum_by_last_block",
                                .grid = {32, 1, 1},
                                .block = {32, 1, 1},
                                .arguments = {&n, &px, &pp, &pf, &py}},
                               memory, seed);
        double sum = 0;
        for (float value : x) sum += value;
        EXPECT_NEAR(y[0], sum, 1e-4);
        EXPECT_EQ(finished[0], 0u);
    }
}

}  // namespace
}  // namespace cairn::emulated_cuda
