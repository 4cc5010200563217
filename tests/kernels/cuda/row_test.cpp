#include "tests/kernels/cuda/references.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cairn::kernels::cuda {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

struct RowCase {
    const char* problem;
    std::vector<std::vector<std::int64_t>> sizes;
    std::size_t axes = 1;
};

const std::vector<RowCase> row_cases{
    {"sum axes=(-1) | f32[T,N]:(N+3,1) -> f32[T,1]:(2,1) where T in 0..30, N in 0..5000",
     {{0, 5}, {3, 0}, {1, 1}, {5, 33}, {2, 2500}}},
    {"max_reduce axes=(-1) | f32[T,N]:(1,T) -> f32[T,1] where T in 1..30, N in 1..100", {{1, 1}, {3, 33}, {30, 100}}},
    {"mean axes=(-2,-1) keepdims=(0) | f32[T,N,7] -> f32[T] where T in 1..30, N in 1..40",
     {{1, 1}, {3, 33}, {2, 40}},
     2},
    {"mean axes=(-1) keepdims=(1) | f32[T,N] -> f32[T,1] where T in 1..30, N in 1..100000", {{2, 1}, {3, 3333}}},
    {"variance axes=(-1) keepdims=(1) | f32[T,N] -> f32[T,1] where T in 1..30, N in 1..900", {{2, 1}, {3, 900}}},
    {"argmax axis=(-1) | f32[T,N] -> i32[T,1] where T in 1..30, N in 1..60000", {{2, 1}, {3, 50257}, {5, 300}}},
    {"softmax axis=(-1) | f32[2,T,N]:(40*N,N,1) -> f32[2,T,N] where T in 0..30, N in 1..1024",
     {{0, 5}, {1, 1}, {3, 257}, {2, 1024}}},
    {"softmax axis=(-1) | f32[T,N] -> f32[T,N] where T in 0..30, N in 1..100000", {{2, 1}, {2, 3001}}},
    {"log_softmax axis=(-1) | f32[T,N] -> f32[T,N]:(1,T) where T in 0..30, N in 1..100", {{1, 1}, {7, 99}}},
    {"layer_norm eps=1e-05 | f32[1,T,768] f32[768]! f32[768]! -> f32[1,T,768] where T in 1..1024", {{1}, {7}}},
    {"layer_norm eps=1e-05 | f32[1,T,768]:(800*T,800,1) -> f32[1,T,768] where T in 1..1024", {{1}, {3}}},
    {"layer_norm axes=(-2,-1) eps=0.1 | f32[T,5,7] f32[5,7] -> f32[T,5,7] where T in 0..9", {{0}, {1}, {9}}, 2},
    {"layer_norm eps=1e-12 | f32[T,20000] f32[20000]! f32[20000]! -> f32[T,20000] where T in 1..4", {{2}}},
    {"rms_norm eps=1e-06 | f32[T,N] f32[N]:(2)! -> f32[T,N] where T in 1..100, N in 1..640", {{1, 1}, {4, 640}}},
    {"add_layer_norm eps=1e-12 | f32[1,S,768] f32[1,S,768] f32[768]! f32[768]! -> f32[1,S,768] f32[1,S,768] where S in "
     "1..512",
     {{1}, {5}}},
    {"add_layer_norm eps=1e-05 | f32[T,20000] f32[T,20000] -> f32[T,20000] f32[T,20000] where T in 1..4", {{2}}},
    {"add_rms_norm eps=1e-06 | f32[T,40] f32[T,40]:(1,T) f32[40]! -> f32[T,40] f32[T,40] where T in 1..100", {{3}}},
};

TEST(CudaRows, HaveTheResultsOfTheirDefinitions) {
    std::vector<std::string> problems;
    for (const RowCase& row : row_cases) problems.emplace_back(row.problem);
    const KernelCases cases(problems);
    std::uint64_t seed = 10;
    for (std::size_t i = 0; i < row_cases.size(); ++i) {
        for (const auto& sizes : row_cases[i].sizes) {
            const Problem problem = cases.at(i, sizes);
            auto inputs = random_inputs(problem, ++seed);
            for (Number& x : inputs[0]) x = static_cast<float>(x * 3 + 2);
            const auto wanted = row_reference(problem, inputs, row_cases[i].axes);
            const auto y = cases.run(i, sizes, inputs, {.seed = seed});
            for (std::size_t n = 0; n < y.size(); ++n) {
                const double error = error_of(y[n], wanted[n]);
                ASSERT_LE(error, 2e-6) << row_cases[i].problem << " at " << sizes[0];
            }
            // The same bits in another order of threads.
            ASSERT_EQ(y, cases.run(i, sizes, inputs, {.seed = seed + 1000}));
        }
    }
}

TEST(CudaRows, SpecialValuesGoOnAsInTheDefinitions) {
    std::vector<std::string> problems;
    for (const std::string tail : {"5", "700"}) {
        const std::string x = " | f32[6," + tail + "] -> f32[6,";
        for (const std::string head : {"sum axes=(-1)", "max_reduce axes=(-1)"}) problems.push_back(head + x + "1]");
        for (const std::string head : {"softmax axis=(-1)", "layer_norm eps=0", "rms_norm eps=1e-06"})
            problems.push_back(head + x + tail + "]");
        problems.push_back("argmax axis=(-1) | f32[6," + tail + "] -> i32[6,1]");
    }
    const KernelCases cases(problems);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto size = static_cast<std::size_t>(cases.problem(i).inputs[0].shape[1].constant());
        Numbers x(6 * size, 0.25L);
        x[0 * size + 3] = nan;
        x[1 * size + 2] = inf;
        x[2 * size + 1] = -inf;
        for (std::size_t j = 0; j < size; ++j) x[3 * size + j] = -inf;
        for (std::size_t j = 0; j < size; ++j) x[4 * size + j] = static_cast<Number>(j % 2) - 0.5L;
        x[5 * size + size - 1] = nan, x[5 * size + size - 2] = nan;
        const auto y = cases.run(i, {}, {x}, {.seed = i})[0], wanted = row_reference(cases.problem(i), {x}, 1)[0];
        ASSERT_LE(error_of(y, wanted), 2e-6) << problems[i];
    }
}

TEST(CudaRows, NormsRunInPlace) {
    const KernelCases cases(
        {"add_layer_norm eps=1e-05 | f32[T,900] f32[T,900] f32[900] -> f32[T,900] f32[T,900] where T in 1..4",
         "add_layer_norm eps=1e-05 | f32[T,20000] f32[T,20000] f32[20000] -> f32[T,20000] f32[T,20000] where T in "
         "1..4"});
    const std::vector<std::int64_t> sizes{2};
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto inputs = random_inputs(cases.at(i, sizes), 3);
        const auto wanted = row_reference(cases.at(i, sizes), inputs, 1);
        const auto y = cases.run(i, sizes, inputs, {.same = {{0, 1}, {1, 0}}});
        EXPECT_EQ(y[0], wanted[0]);
        EXPECT_LE(error_of(y[1], wanted[1]), 2e-6);
    }
}

}  // namespace
}  // namespace cairn::kernels::cuda
