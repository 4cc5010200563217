#include "kernels/cuda/definitions.hpp"
#include "kernels/partial_sums.hpp"
#include "tests/kernels/cuda/references.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace cairn::kernels::cuda {
namespace {

std::string mlp(int activation, const std::string& x, std::int64_t width, std::int64_t hidden, const std::string& dtype,
                const std::string& y) {
    const std::string d = std::to_string(width), h = std::to_string(hidden);
    return "mlp_block activation=(" + std::to_string(activation) + ") eps=1e-05 | f32[1," + d + "]" + x + " f32[" + d +
           "]! f32[" + d + "]! " + dtype + "[" + d + "," + h + "]! f32[" + h + "]! " + dtype + "[" + h + "," + d +
           "]! f32[" + d + "]! -> f32[1," + d + "]" + y;
}

const std::vector<std::string> problems{
    mlp(0, "", 96, 56, "f32", ""),  // the last units of the last block are missing
    mlp(1, "@partial_sums.3", 128, 200, "f32", "@partial_sums.2"),
    mlp(2, "", 32, 8, "f16", ""),  // one block with units, of eight
    mlp(3, "@partial_sums.16", 160, 264, "bf16", "@partial_sums.3"),
    mlp(0, "@partial_sums.2", 2048, 144, "f16",
        "@partial_sums.2"),  // a row of w2 has more parts than there are threads
    mlp(0, "", 768, 3072, "f16", "@partial_sums.12"),
};

TEST(CudaMlp, IsItsDefinition) {
    const KernelCases cases(problems);
    for (std::size_t i = 0; i < cases.size(); ++i)
        for (const std::size_t misaligned : {0, 1}) {
            if (misaligned == 1 && cases.problem(i).inputs[3].shape[1] == Dim(3072)) continue;
            const auto inputs = weights_like_inputs(cases.problem(i), 7 + i);
            const Numbers y = cases.run(i, {}, inputs, {.seed = i, .misaligned = misaligned})[0];
            EXPECT_LE(
                error_of(sums_of(cases.problem(i).outputs[0], y), definition_reference(cases.problem(i), inputs)[0]),
                1e-6)
                << problems[i] << (misaligned == 1 ? ", misaligned" : "");
        }
}

TEST(CudaMlp, ASpecialValueOfTheRowIsInAllOfTheResult) {
    const KernelCases cases({problems[0], problems[3]});
    for (std::size_t i = 0; i < cases.size(); ++i) {
        auto inputs = weights_like_inputs(cases.problem(i), 3);
        inputs[0][5] = std::numeric_limits<double>::quiet_NaN();
        const auto y = cases.run(i, {}, inputs);
        for (const Number number : y[0]) EXPECT_NE(number, number) << cases.kernel_id(i);
    }
}

// A row far from 0, whose squares have hardly any bits in common with its variance.
TEST(CudaMlp, ARowWithALargeMeanIsNormalised) {
    const KernelCases cases({problems[1]});
    for (std::size_t i = 0; i < cases.size(); ++i) {
        auto inputs = weights_like_inputs(cases.problem(i), 4);
        for (std::size_t n = 0; n < 128; ++n) inputs[0][n] += 1000;
        const Numbers y = cases.run(i, {}, inputs)[0];
        EXPECT_LE(error_of(sums_of(cases.problem(i).outputs[0], y), definition_reference(cases.problem(i), inputs)[0]),
                  1e-5)
            << cases.kernel_id(i);
    }
}

TEST(CudaMlp, RefusesWhatItCannotComputeAtOnce) {
    const auto refusal = [](const std::string& text) {
        const auto symbols = Symbols::create();
        const Problem problem = parse_problem(text, *symbols);
        for (const Kernel& kernel : h100_kernels().kernels)
            if (kernel.definition == "mlp_block") return kernel.accepts(problem);
        return Refusal("there is no kernel");
    };
    const std::string accepted = mlp(0, "", 96, 56, "f32", "");
    const auto replaced = [&](const std::string& from, const std::string& to) {
        std::string text = accepted;
        for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
            text.replace(at, from.size(), to);
        return text;
    };
    EXPECT_EQ(refusal(accepted), "");
    EXPECT_EQ(refusal(replaced("[1,96]", "[2,96]")), "needs one row");
    EXPECT_EQ(refusal(replaced("[1,96]", "[96]")), "needs one row") << "its definition needs a matrix";
    EXPECT_EQ(refusal(replaced("[1,96]", "[T,96]")), "needs one row of constant sizes");
    EXPECT_EQ(refusal(replaced("]!", "]")), "needs bound weights");
    EXPECT_EQ(refusal(replaced("96", "100")), "needs rows of a multiple of 32 elements, at most 2048");
    EXPECT_EQ(refusal(replaced("56", "60")), "needs a multiple of 8 hidden units");
    EXPECT_EQ(refusal(replaced("f32[96,56]!", "f32[96,56]:(1,96)!")), "needs dense weights");
    EXPECT_EQ(refusal(replaced("f32[96,56]!", "f16[96,56]!")), "needs f32, and matrices of one dtype");
    EXPECT_EQ(refusal(accepted + "@partial_sums.2"), "writes one part for each cluster of blocks");
    EXPECT_EQ(refusal(mlp(0, "", 2048, 8192, "f32", "@partial_sums.16")), "needs weights of a block in shared memory");
}

}  // namespace
}  // namespace cairn::kernels::cuda
