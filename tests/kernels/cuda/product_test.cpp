#include "tests/kernels/cuda/references.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace cairn::kernels::cuda {
namespace {

struct ProductCase {
    const char* problem;
    const char* kernel;
    std::vector<std::vector<std::int64_t>> sizes;
};

const std::vector<ProductCase> products{
    // Few rows, neighbours of b along the columns.
    {"matmul | f32[T,K] f32[K,N] -> f32[T,N] where T in 0..9, K in 0..900, N in 0..300",
     "product_rows",
     {{0, 5, 5}, {1, 1, 1}, {3, 0, 7}, {3, 7, 0}, {9, 333, 37}, {2, 900, 300}}},
    {"matmul | f32[16,4*K]:(4*K+4,1) f32[4*K,4*N]:(4*N+8,1) -> f32[16,4*N] where K in 1..400, N in 1..40",
     "product_rows",
     {{1, 1}, {33, 9}, {300, 5}}},
    {"matmul | f32[3,T,40]:(40,120,1) f32[3,40,36]:(36*40,36,1) -> f32[3,T,36] where T in 1..5",
     "product_rows",
     {{1}, {5}}},
    {"fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[1,T,132] f32[1,132,68]:(0,68,1)! "
     "f32[1,T,68]:(0,0,1)! f32[1,T,68] -> f32[1,T,68] results (6) where T in 1..12",
     "product_rows",
     {{1}, {2}, {12}}},
    {"fused columns=(0,24,48) {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,T,64] f32[64,72]! f32[1,T,72]:(0,0,1)! -> "
     "f32[1,T,72] f32[1,T,3,8]:(1,8,256,1) f32[1,T,3,8]:(1,8,256,1) results (4,4,4) where T in 1..12",
     "product_rows",
     {{1}, {5}, {12}}},
    // 4, 8, 16 and 32 threads side by side, as the largest number of columns allows.
    {"matmul | f32[T,K] f32[K,N] -> f32[T,N] where T in 0..16, K in 0..200, N in 0..2000",
     "product_rows",
     {{16, 200, 77}, {1, 5, 2}}},
    {"matmul | f32[T,K] f32[K,N] -> f32[T,N] where T in 0..12, K in 0..200, N in 0..4000",
     "product_rows",
     {{12, 200, 77}, {1, 5, 34}}},
    {"matmul | f32[T,K] f32[K,N] -> f32[T,N] where T in 0..6, K in 0..200, N in 0..8000",
     "product_rows",
     {{6, 200, 77}, {1, 5, 66}}},
    {"matmul | f32[T,K] f32[K,N] -> f32[T,N] where T in 0..3, K in 0..200, N in 0..16000",
     "product_rows",
     {{3, 200, 277}, {1, 5, 130}}},
    // Few rows, neighbours along the depth.
    {"matmul | f32[T,K] f32[K,N]:(1,K) -> f32[T,N] where T in 0..9, K in 2..900, N in 0..300",
     "product_rows",
     {{0, 5, 5}, {1, 2, 1}, {3, 7, 0}, {9, 333, 37}, {2, 900, 30}}},
    {"matmul | f32[T,4*K] f32[4*K,5000]:(1,4*K+4) -> f32[T,5000] where T in 1..2, K in 1..40",
     "product_rows",
     {{1, 1}, {2, 35}}},
    {"fused {3=matmul(0,1):f32 4=add(3,2):f32 5=gelu(4):f32} | f32[12,136] f32[136,33]:(1,136)! f32[12,33]:(0,1)! -> "
     "f32[12,33] results (5)",
     "product_rows",
     {{}}},
    // Tiles.
    {"matmul | f32[T,K] f32[K,N] -> f32[T,N] where T in 0..200, K in 0..300, N in 0..200",
     "product_tile",
     {{0, 5, 5}, {1, 1, 1}, {3, 0, 7}, {3, 7, 0}, {65, 33, 67}, {64, 16, 64}, {130, 150, 129}}},
    {"matmul | f32[T,4*K] f32[4*K,4*N] -> f32[T,4*N] where T in 0..200, K in 1..300, N in 1..50",
     "product_tile",
     {{1, 1, 1}, {65, 13, 17}, {130, 40, 32}}},
    {"matmul | f32[T,4*K] f32[4*K,N]:(1,4*K) -> f32[T,N] where T in 0..200, K in 1..300, N in 1..150",
     "product_tile",
     {{1, 1, 1}, {65, 13, 67}, {130, 40, 129}}},
    {"matmul | f32[T,K]:(1,T) f32[K,N]:(2*N,2) -> f32[T,N]:(1,T) where T in 1..200, K in 2..300, N in 2..150",
     "product_tile",
     {{1, 2, 2}, {65, 13, 67}}},
    {"matmul | f32[2,3,T,16]:(48*T,16,48,1) f32[2,3,16,T]:(48*T,16,1,48) -> f32[2,3,T,T] where T in 1..100",
     "product_tile",
     {{1}, {70}}},
    {"fused {3=matmul(0,1):f32 4=add(3,2):f32 5=gelu_tanh(4):f32} | f32[2,T,68] f32[2,68,76]:(0,76,1)! "
     "f32[2,T,76]:(0,0,1)! -> f32[2,T,76] results (5) where T in 1..100",
     "product_tile",
     {{1}, {33}, {65}}},
    {"fused columns=(0,24,48) {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,T,64] f32[64,72]! f32[1,T,72]:(0,0,1)! -> "
     "f32[1,T,72] f32[1,T,3,8]:(1,8,2048,1) f32[1,T,3,8]:(1,8,2048,1) results (4,4,4) where T in 13..100",
     "product_tile",
     {{13}, {100}}},
    {"fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[4,T,36]:(36,144,1) f32[4,36,40]:(0,1,36)! "
     "f32[4,T,40]:(0,0,1)! f32[4,T,40] -> f32[4,T,40]:(40,160,1) results (6) where T in 1..100",
     "product_tile",
     {{1}, {33}}},
    // Depths that the blocks of a cluster share: by 1, 2, 4 and 8, the last part shorter or empty.
    {"matmul | f32[T,4*K] f32[4*K,N] -> f32[T,N] where T in 1..200, K in 1..300, N in 1..150",
     "product_split",
     {{1, 1, 1}, {70, 70, 130}, {65, 150, 3}, {2, 257, 65}}},
    {"fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[1,T,1040] f32[1,1040,130]:(0,1,1040)! "
     "f32[1,T,130]:(0,0,1)! f32[1,T,130] -> f32[1,T,130] results (6) where T in 1..100",
     "product_split",
     {{1}, {100}}},
};

class CudaProductsOf : public testing::TestWithParam<const char*> {};

TEST_P(CudaProductsOf, HaveTheResultsOfSumsInDouble) {
    std::vector<std::string> problems;
    std::vector<std::string> kernels;
    std::vector<std::vector<std::vector<std::int64_t>>> sizes;
    const bool is_plain = std::string_view(GetParam()) == "f32";
    for (std::size_t n = 0; n < products.size(); n += is_plain ? 1 : 3) {
        const ProductCase& product = products[n];
        const std::string kernel = std::string("cuda.") + product.kernel;
        const bool is_tile = kernel.ends_with("tile");
        std::vector<std::string> of_tiles{kernel + "64", kernel + "32", "cuda.product_bf16x6."};
        // These have most of their code in common with the one before.
        if (n % 3 == (is_plain ? 1 : 0))
            for (const char* other : {"cuda.product_bf16x6_split", "cuda.product_f16x3.", "cuda.product_f16x3_split",
                                      "cuda.product_f16.", "cuda.product_f16_split"})
                of_tiles.emplace_back(other);
        if (kernel.ends_with("product_split"))
            of_tiles = {"cuda.product_bf16x6_split", "cuda.product_f16x3_split", "cuda.product_f16_split"};
        for (const std::string& each : is_tile || kernel.ends_with("split") ? of_tiles : std::vector{kernel}) {
            problems.push_back(with_inputs_in(product.problem, 1, 1, GetParam()));
            kernels.push_back(each);
            sizes.push_back(product.sizes);
        }
    }
    const KernelCases cases(problems, kernels);
    std::uint64_t seed = 1;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        for (const auto& size : sizes[i]) {
            for (const std::size_t misaligned : {0, 1}) {
                const Problem problem = cases.at(i, size);
                auto inputs = random_inputs(problem, ++seed);
                repeat_elements(problem, inputs);
                const auto wanted = product_reference(problem, inputs);
                const auto y = cases.run(i, size, inputs, {.seed = seed, .misaligned = misaligned});
                for (std::size_t n = 0; n < y.size(); ++n) {
                    const double error = error_of(y[n], wanted[n]);
                    const double limit = kernels[i].starts_with("cuda.product_bf16x6")  ? 2.5e-7
                                         : kernels[i].starts_with("cuda.product_f16x3") ? 6e-7
                                         : kernels[i].starts_with("cuda.product_f16")   ? 3e-3
                                                                                        : 1e-6;
                    ASSERT_LE(error, limit) << cases.kernel_id(i) << ' ' << problems[i] << " output " << n << " at "
                                            << (size.empty() ? 0 : size[0]);
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Weights, CudaProductsOf, testing::Values("f32", "f16", "bf16"),
                         [](const auto& dtype) { return std::string(dtype.param); });

TEST(CudaProducts, SpecialValuesStayInTheirRowsAndColumns) {
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<std::string> problems, kernels;
    for (const char* kernel : {"cuda.product_rows", "cuda.product_tile64", "cuda.product_tile32",
                               "cuda.product_bf16x6.", "cuda.product_f16x3."})
        for (const char* weights : {"f32", "f16", "bf16"})
            for (const char* strides : {"", ":(1,40)"}) {
                problems.push_back(std::string("matmul | f32[5,40] ") + weights + "[40,36]" + strides +
                                   " -> f32[5,36]");
                kernels.emplace_back(kernel);
            }
    const KernelCases cases(problems, kernels);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        auto inputs = random_inputs(cases.problem(i), i);
        inputs[0][3] = nan;
        inputs[0][40 + 39] = inf;
        inputs[0][80 + 1] = inf, inputs[1][1 * 36 + 5] = 0;
        inputs[1][7 * 36 + 35] = -inf;
        inputs[0][160] = -0.0L;
        const auto y = cases.run(i, {}, inputs, {.seed = i})[0];
        EXPECT_LE(error_of(y, product_reference(cases.problem(i), inputs)[0]), 1e-6) << cases.kernel_id(i);
    }
}

// The error of 20x40x36 where the operands are scaled by powers of two.
double error_at_magnitude(const KernelCases& cases, std::size_t i, int of_a, int of_b) {
    auto inputs = random_inputs(cases.problem(i), 5);
    for (auto& x : inputs[0]) x = std::ldexp(x, of_a);
    for (auto& x : inputs[1]) x = std::ldexp(x, of_b);
    const auto y = cases.run(i, {}, inputs, {.seed = 3})[0];
    return error_of(y, product_reference(cases.problem(i), inputs)[0]);
}
const std::string problem_of_magnitudes = "matmul | f32[20,40] f32[40,36] -> f32[20,36]";

// Factors of a and of b, whose products f32 can hold.
TEST(CudaProducts, OfSplitElementsAreExactAtAnyMagnitude) {
    const KernelCases cases({problem_of_magnitudes}, {"cuda.product_bf16x6"});
    for (const auto& [of_a, of_b] :
         {std::pair(0, 0), std::pair(-120, 60), std::pair(-100, 120), std::pair(127, -100), std::pair(60, -126),
          std::pair(-45, -45), std::pair(-39, -39), std::pair(-63, -61), std::pair(63, 60)})
        EXPECT_LE(error_at_magnitude(cases, 0, of_a, of_b), 1e-6) << of_a << ' ' << of_b;
}

// The same within the range of f16, beyond it, and so small that elements lose all of their bits.
TEST(CudaProducts, InF16KeepTheirErrorsAtAnyMagnitude) {
    const KernelCases cases({problem_of_magnitudes, problem_of_magnitudes},
                            {"cuda.product_f16x3.", "cuda.product_f16."});
    for (std::size_t i = 0; i < cases.size(); ++i)
        for (const auto& [of_a, of_b] : {std::pair(0, 0), std::pair(-7, -7), std::pair(14, -7), std::pair(14, 14),
                                         std::pair(17, 0), std::pair(0, 60), std::pair(-12, 3), std::pair(-30, 12)})
            EXPECT_LE(error_at_magnitude(cases, i, of_a, of_b), i == 0 ? 6e-7 : 3e-3)
                << cases.kernel_id(i) << ' ' << of_a << ' ' << of_b;
}

// The parts are rounded to 2^64, whose product is above the largest f32, and the product of the elements is below.
TEST(CudaProducts, OfSplitElementsMayComeCloseToTheLargestNumber) {
    const KernelCases cases({"matmul | f32[17,40] f32[40,36] -> f32[17,36]"}, {"cuda.product_bf16x6"});
    auto inputs = random_inputs(cases.problem(0), 5);
    const double below = std::ldexp(1 - std::ldexp(1.0, -10), 64);
    for (std::size_t k = 0; k < 40; ++k) inputs[0][k] = k == 3 ? below : 0, inputs[1][k * 36 + 4] = k == 3 ? below : 0;
    const auto y = cases.run(0, {}, inputs, {.seed = 3})[0];
    EXPECT_TRUE(std::isfinite(y[4])) << y[4];
    EXPECT_LE(error_of(y, product_reference(cases.problem(0), inputs)[0]), 1e-6);
}

// A depth at which the truncation of a single sum on tensor cores would show. Two f16 parts have twice the bits of one.
TEST(CudaProducts, OfSplitElementsAreMoreExactThanAChainOfF32) {
    const char* problem = "matmul | f32[17,3072] f32[3072,24] -> f32[17,24]";
    const std::vector<double> limits{2.5e-7, 4e-7};
    const KernelCases cases({problem, problem}, {"cuda.product_bf16x6.", "cuda.product_f16x3."});
    for (std::size_t i = 0; i < cases.size(); ++i) {
        auto inputs = random_inputs(cases.problem(i), 6);
        for (const bool is_positive : {false, true}) {
            if (is_positive)
                for (auto& operand : inputs)
                    for (auto& x : operand) x = std::fabs(x);
            const auto y = cases.run(i, {}, inputs, {.seed = 4})[0];
            EXPECT_LE(error_of(y, product_reference(cases.problem(i), inputs)[0]), limits[i])
                << cases.kernel_id(i) << ' ' << is_positive;
        }
    }
}

TEST(CudaProducts, AResidualIsAddedInPlace) {
    const std::string tail = " f32[64,68]! f32[T,68]:(0,1)! f32[T,68] -> f32[T,68] results (6) where T in 1..";
    const std::string head = "fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[T,64]";
    const KernelCases cases({head + tail + "4", head + tail + "90"});
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::vector<std::int64_t> size{i == 0 ? 3 : 70};
        auto inputs = random_inputs(cases.at(i, size), 9);
        repeat_elements(cases.at(i, size), inputs);
        const auto y = cases.run(i, size, inputs, {.same = {{3, 0}}})[0];
        EXPECT_LE(error_of(y, product_reference(cases.at(i, size), inputs)[0]), 1e-6);
    }
}

}  // namespace
}  // namespace cairn::kernels::cuda
