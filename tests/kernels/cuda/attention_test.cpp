#include "tests/kernels/cuda/references.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

namespace cairn::kernels::cuda {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

struct AttentionCase {
    std::string problem;
    std::vector<std::vector<std::int64_t>> sizes;
    std::string kernel = "";
};

// Each problem for both kernels.
std::vector<AttentionCase> attention_cases() {
    const std::vector<AttentionCase> both{
        {"attention causal=(1) scale=0.125 masked_score=-3.4028235e+38 | f32[1,3,T,64]:(1,64,576,1) f32[1,3,T + "
         "P,64]:(786432,8192,64,1) f32[1,3,T + P,64]:(786432,8192,64,1) -> f32[1,3,T,64]:(1,64,192,1) where T in "
         "1..100, P in 0..1000",
         {{1, 0}, {1, 70}, {3, 5}, {16, 0}, {40, 31}, {70, 1}}},
        {"attention causal=(0) scale=0.125 masked_score=-3.4028235e+38 | f32[2,3,S,64]:(192*S,64,192,1) "
         "f32[2,3,S,64]:(192*S,64,192,1) f32[2,3,S,64]:(192*S,64,192,1) bool[2,S] -> f32[2,3,S,64]:(192*S,64,192,1) "
         "where S in 1..100",
         {{1}, {9}, {32}, {70}}},
        {"attention causal=(0) hides=(1) scale=0.5 masked_score=-10000 | f32[2,2,T,8] f32[2,2,S,8] f32[2,2,S,8] "
         "bool[2,S]:(2*S,2) -> f32[2,2,T,8] where T in 1..90, S in 1..90",
         {{1, 1}, {5, 33}, {40, 65}}},
        {"attention causal=(1) scale=0.2 masked_score=-1e+30 | f32[4,T,32] f32[4,S,32] f32[4,S,32] -> f32[4,T,32] "
         "where T in 1..90, S in 1..90",
         {{1, 1}, {5, 3}, {40, 20}, {33, 64}}},
        {"attention causal=(1) scale=0.1 masked_score=-inf | f32[2,4,T,128] f32[2,2,S,128] f32[2,2,S,128] -> "
         "f32[2,4,T,128] where T in 1..90, S in 1..90",
         {{2, 1}, {7, 33}, {35, 70}}},
        {"attention causal=(1) scale=0.25 masked_score=-1 | f32[2,2,T,17] f32[2,2,T,17]:(2048,1024,17,1) "
         "f32[2,2,T,9]:(2048,1024,9,1) -> f32[2,2,T,9]:(18*T,9,18,1) where T in 1..60",
         {{1}, {7}, {40}}},
        {"attention causal=(0) pairs=(1) adds_to_hidden=(1) scale=0.5 masked_score=-1 | f32[3,T,40] f32[3,S,40] "
         "f32[3,S,40] bool[T,1] f32[3,1,S]:(2*S,2*S,2) -> f32[3,T,40] where T in 1..50, S in 1..300",
         {{1, 5}, {9, 70}, {33, 40}}},
        {"attention causal=(1) pairs=(1) scale=0.5 masked_score=-1e+30 | f32[2,4,T,8] f32[2,1,S,8] f32[2,1,S,8] "
         "f32[2,1,1,S] f32[1,4,T,S] -> f32[2,4,T,8] where T in 1..60, S in 1..90",
         {{2, 3}, {5, 40}, {40, 50}}},
        {"attention causal=(1) window=(9) softcap=3 scale=0.5 masked_score=-1e+30 | f32[2,T,8] f32[2,S,8] f32[2,S,8] "
         "-> f32[2,T,8] where T in 1..60, S in 1..90",
         {{2, 3}, {5, 40}, {40, 50}}},
        // The first keys are hidden, with the weight 0.
        {"attention causal=(1) window=(5) scale=0.5 masked_score=-inf | f32[2,T,8] f32[2,S,8] f32[2,S,8] -> f32[2,T,8] "
         "where T in 1..60, S in 1..90",
         {{2, 70}, {9, 80}}},
    };
    std::vector<AttentionCase> all;
    for (const char* kernel : {"cuda.attention_tile.", "cuda.attention_query."})
        for (const AttentionCase& one : both) all.push_back({one.problem, one.sizes, kernel});
    // Splits elements of heads whose size is a multiple of 16.
    const std::vector<AttentionCase> split{
        {both[0].problem, {{1, 0}, {3, 70}, {64, 0}, {65, 63}, {70, 1}}},
        {both[1].problem, {{1}, {64}, {70}}},
        {both[3].problem, {{1, 1}, {40, 20}, {70, 64}, {65, 130}}},
        {"attention causal=(0) hides=(1) scale=0.5 masked_score=-10000 | f32[2,2,T,16] f32[2,2,S,16] f32[2,2,S,48] "
         "bool[2,S]:(2*S,2) -> f32[2,2,T,48] where T in 1..90, S in 1..90",
         {{1, 1}, {5, 33}, {65, 65}}},
        {"attention causal=(0) pairs=(1) adds_to_hidden=(1) scale=0.5 masked_score=-1 | f32[3,T,48] f32[3,S,48] "
         "f32[3,S,16] bool[T,1] f32[3,1,S]:(2*S,2*S,2) -> f32[3,T,16] where T in 1..70, S in 1..300",
         {{1, 5}, {9, 70}, {66, 128}}},
        {"attention causal=(1) scale=0.25 masked_score=-1 | f32[2,2,T,16] f32[2,2,T,16]:(2048,1024,17,1) "
         "f32[2,2,T,16]:(2048,1024,17,1) -> f32[2,2,T,16]:(32*T,16,32,1) where T in 1..60",
         {{1}, {40}}},
        {"attention causal=(1) pairs=(1) window=(9) softcap=3 scale=0.5 masked_score=-1e+30 | f32[2,4,T,32] "
         "f32[2,1,S,32] f32[2,1,S,32] f32[2,1,1,S] f32[1,4,T,S] -> f32[2,4,T,32] where T in 1..70, S in 1..90",
         {{2, 3}, {5, 40}, {66, 70}}},
    };
    for (const char* kernel : {"cuda.attention_bf16x6.", "cuda.attention_f16x3.", "cuda.attention_f16."})
        for (const AttentionCase& one : split) all.push_back({one.problem, one.sizes, kernel});
    all.push_back(
        {"attention causal=(1) scale=0.1 masked_score=-1e+30 | f32[2,T,200] f32[2,S,200] f32[2,S,256] -> f32[2,T,256] "
         "where T in 1..60, S in 1..900",
         {{3, 300}, {20, 30}},
         "cuda.attention_query."});
    return all;
}

double limit_of(const std::string& kernel) {
    return kernel.starts_with("cuda.attention_f16x3") ? 4e-6 : kernel.starts_with("cuda.attention_f16") ? 5e-3 : 2e-6;
}

// The dtypes of keys and values.
class CudaAttentionOf : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(CudaAttentionOf, HasTheResultsOfTheDefinition) {
    // Few in other dtypes: elements are loaded alike in all.
    auto wanted = attention_cases();
    std::vector<std::string> problems;
    std::vector<std::string> kernels;
    const bool is_plain = GetParam() == std::pair<std::string, std::string>("f32", "f32");
    std::erase_if(wanted, [&, i = 0](const AttentionCase&) mutable { return !is_plain && i++ % 3 != 0; });
    for (const AttentionCase& one : wanted) {
        problems.push_back(
            with_inputs_in(with_inputs_in(one.problem, 1, 1, GetParam().first), 2, 2, GetParam().second));
        kernels.push_back(one.kernel);
    }
    const KernelCases cases(problems, kernels);
    std::uint64_t seed = 1;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        for (const auto& size : wanted[i].sizes) {
            for (const std::size_t misaligned : {0, 1}) {
                const Problem problem = cases.at(i, size);
                auto inputs = random_inputs(problem, ++seed);
                for (Number& x : inputs[0]) x = static_cast<float>(x * 4);
                const auto y = cases.run(i, size, inputs, {.seed = seed, .misaligned = misaligned})[0];
                const double error = error_of(y, attention_reference(problem, inputs));
                ASSERT_LE(error, limit_of(cases.kernel_id(i))) << problems[i] << " at " << size[0];
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(States, CudaAttentionOf,
                         testing::Values(std::pair("f32", "f32"), std::pair("f16", "f16"), std::pair("bf16", "bf16"),
                                         std::pair("f32", "bf16")),
                         [](const auto& state) { return state.param.first + state.param.second; });

// Keys that the causal rule hides count where all seen keys are hidden as well, or have as low scores.
TEST(CudaAttention, HiddenKeysCountWhereNothingElseDoes) {
    const std::string head = "attention causal=(1) pairs=(1) scale=1 masked_score=-1e+30 | ";
    const std::string operands = "f32[1,T,16] f32[1,S,16] f32[1,S,16] ",
                      tail = "[T,S] -> f32[1,T,16] where T in 1..90, S in 1..90";
    const std::string hiding = head + operands + "bool" + tail, adding = head + operands + "f32" + tail;
    const KernelCases cases(
        {hiding, adding, hiding, adding, hiding, adding, hiding, adding},
        {"cuda.attention_tile", "cuda.attention_tile", "cuda.attention_query", "cuda.attention_query",
         "cuda.attention_bf16x6", "cuda.attention_bf16x6", "cuda.attention_f16.", "cuda.attention_f16."});
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::vector<std::int64_t> size{70, 80};
        auto inputs = random_inputs(cases.at(i, size), i);
        for (std::size_t n = 0; n < inputs[3].size(); ++n) {
            const bool hides_row = n / 80 % 3 == 1;
            inputs[3][n] = i % 2 == 0 ? (hides_row ? 0 : inputs[3][n]) : static_cast<float>(hides_row ? -1e30 : 0);
        }
        const auto y = cases.run(i, size, inputs, {.seed = i})[0];
        EXPECT_LE(error_of(y, attention_reference(cases.at(i, size), inputs)), limit_of(cases.kernel_id(i)))
            << cases.kernel_id(i);
    }
}

TEST(CudaAttention, SpecialValuesStayInTheirRows) {
    const std::string text =
        "attention causal=(0) scale=0.5 | f32[1,T,16] f32[1,S,16] f32[1,S,16] -> f32[1,T,16] where T in 1..40, S in "
        "1..90";
    const KernelCases cases({text, text, text, text, text},
                            {"cuda.attention_tile", "cuda.attention_query", "cuda.attention_bf16x6",
                             "cuda.attention_f16x3.", "cuda.attention_f16."});
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::vector<std::int64_t> size{9, 70};
        auto inputs = random_inputs(cases.at(i, size), i);
        inputs[0][0] = nan;
        for (std::size_t s = 0; s < 70; ++s)
            inputs[1][s * 16 + 2] = static_cast<float>(std::abs(inputs[1][s * 16 + 2]));
        inputs[0][16 + 2] = inf;
        inputs[0][32 + 2] = -inf;
        inputs[0][48] = 1e30L;
        inputs[2][5 * 16 + 3] = nan, inputs[2][4] = inf;
        const auto y = cases.run(i, size, inputs, {.seed = i})[0];
        EXPECT_LE(error_of(y, attention_reference(cases.at(i, size), inputs)), limit_of(cases.kernel_id(i)))
            << cases.kernel_id(i);
    }
}

// Factors of queries and of values. Where scores are far apart, weights are as small as f32 can hold.
TEST(CudaAttention, OnTensorCoresKeepsItsErrorAtAnyMagnitude) {
    const std::string problem =
        "attention causal=(0) scale=0.5 | f32[1,20,16] f32[1,70,16] f32[1,70,16] -> f32[1,20,16]";
    const KernelCases cases({problem, problem, problem},
                            {"cuda.attention_bf16x6", "cuda.attention_f16x3.", "cuda.attention_f16."});
    for (std::size_t i = 0; i < cases.size(); ++i) {
        for (const auto& [of_q, of_k, of_v] :
             {std::tuple(0, 0, 0), std::tuple(5, 0, 0), std::tuple(-120, 0, 30), std::tuple(3, 0, -104),
              std::tuple(3, 0, -118), std::tuple(2, 0, 45), std::tuple(2, 0, 110), std::tuple(-20, 0, 12),
              std::tuple(-17, 17, 0), std::tuple(12, -12, 0), std::tuple(0, 0, -14)}) {
            auto inputs = random_inputs(cases.problem(i), 5);
            for (auto& x : inputs[0]) x = std::ldexp(x, of_q);
            for (auto& x : inputs[1]) x = std::ldexp(x, of_k);
            for (auto& x : inputs[2]) x = std::ldexp(x, of_v);
            const auto y = cases.run(i, {}, inputs, {.seed = 3})[0];
            // Where scores are larger, so are their errors. From 2^10 on, elements are not rounded.
            const double limit = std::max(of_q, of_k) >= 10 ? 2e-6
                                 : i > 0 && of_q > 0        ? std::ldexp(limit_of(cases.kernel_id(i)), of_q)
                                                            : limit_of(cases.kernel_id(i));
            EXPECT_LE(error_of(y, attention_reference(cases.problem(i), inputs)), limit)
                << cases.kernel_id(i) << ' ' << of_q << ' ' << of_k << ' ' << of_v;
        }
    }
}

}  // namespace
}  // namespace cairn::kernels::cuda
