#include "tests/kernels/cuda/references.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Kernels that write values in partial sums, or read them.
namespace cairn::kernels::cuda {
namespace {

struct PartedCase {
    const char* problem;
    const char* kernel;
    std::vector<std::vector<std::int64_t>> sizes;
};

const std::vector<PartedCase> cases{
    {"matmul | f32[T,K] f32[K,N] -> f32[T,N]@partial_sums.3 where T in 0..4, K in 0..900, N in 0..300",
     "cuda.product_rows",
     {{0, 5, 5}, {1, 1, 1}, {3, 0, 7}, {3, 7, 0}, {4, 333, 37}, {2, 900, 300}, {1, 384, 4}, {1, 385, 4}}},
    {"matmul | f32[T,4*K] f32[4*K,60]:(1,4*K) -> f32[T,60]@partial_sums.8 where T in 1..4, K in 1..300",
     "cuda.product_rows",
     {{1, 1}, {3, 33}, {4, 300}}},
    {"matmul | f32[3,T,140]:(140,420,1) f32[3,140,36] -> f32[3,T,36]@partial_sums.2 where T in 1..5",
     "cuda.product_rows",
     {{1}, {5}}},
    {"fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[1,T,132] f32[1,132,68]:(0,68,1)! "
     "f32[1,T,68]:(0,0,1)! f32[1,T,68]@partial_sums.4 -> f32[1,T,68]@partial_sums.2 results (6) where T in 1..12",
     "cuda.product_rows",
     {{1}, {2}, {12}}},
    {"fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[1,T,132] f32[1,132,68]:(0,68,1)! "
     "f32[1,T,68]:(0,0,1)! f32[1,T,68]@partial_sums.3 -> f32[1,T,68] results (6) where T in 1..80",
     "cuda.product_tile64",
     {{1}, {70}}},
    {"fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[1,T,132] f32[1,132,68]:(0,1,132)! "
     "f32[1,T,68]:(0,0,1)! f32[1,T,68]@partial_sums.4 -> f32[1,T,68] results (6) where T in 1..80",
     "cuda.product_bf16x6",
     {{1}, {70}}},
    {"fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[1,T,260] f32[1,260,68]! f32[1,T,68]:(0,0,1)! "
     "f32[1,T,68]@partial_sums.4 -> f32[1,T,68] results (6) where T in 1..80",
     "cuda.product_bf16x6_split",
     {{1}, {70}}},
    {"elementwise {3=add(0,2):f32 4=tanh(3):f32 5=add(4,1):f32} | f32[T,9]@partial_sums.3 f32[T,9] "
     "f32[T,9]@partial_sums.2 -> f32[T,9] results (5) where T in 0..80",
     "cuda.elementwise",
     {{0}, {1}, {80}}},
    {"elementwise {2=add(0,1):f32} | f32[T,768]@partial_sums.4 f32[T,768]:(0,1)! -> f32[T,768] results (2) where T in "
     "1..12",
     "cuda.elementwise",
     {{1}, {5}}},
    {"neg | f32[T,4,6]@partial_sums.2 -> f32[T,4,6]:(24,1,4) where T in 1..9", "cuda.elementwise", {{1}, {9}}},
    {"copy | f32[T,5]@partial_sums.3 -> f32[T,5]:(8,1) where T in 0..90", "cuda.movement", {{0}, {1}, {90}}},
    {"copy | f32[1,T,768]@partial_sums.8 -> f32[1,T,768] where T in 1..12", "cuda.movement", {{1}, {7}}},
    {"layer_norm eps=1e-05 | f32[1,T,768]@partial_sums.4 f32[768]! f32[768]! -> f32[1,T,768] where T in 1..12",
     "cuda.norm",
     {{1}, {12}}},
    {"softmax axis=(-2) | f32[4,5,6]@partial_sums.2 -> f32[4,5,6]", "cuda.norm", {{}}},
    {"add_layer_norm eps=1e-05 | f32[T,70]@partial_sums.2 f32[T,70]@partial_sums.3 -> f32[T,70] f32[T,70] where T in "
     "1..4",
     "cuda.norm",
     {{1}, {4}}},
};

TEST(CudaPartialSums, AreWrittenAndRead) {
    std::vector<std::string> problems, kernels;
    for (const PartedCase& each : cases) problems.emplace_back(each.problem), kernels.emplace_back(each.kernel);
    const KernelCases compiled(problems, kernels);
    std::uint64_t seed = 1;
    for (std::size_t i = 0; i < problems.size(); ++i)
        for (const auto& size : cases[i].sizes)
            for (const std::size_t misaligned : {0, 1}) {
                const Problem problem = compiled.at(i, size);
                auto inputs = random_inputs(problem, ++seed);
                repeat_elements(problem, inputs);
                const auto wanted = definition_reference(problem, inputs);
                const auto y = compiled.run(i, size, inputs, {.seed = seed, .misaligned = misaligned});
                for (std::size_t n = 0; n < y.size(); ++n)
                    ASSERT_LE(error_of(sums_of(problem.outputs[n], y[n]), wanted[n]), 1e-6)
                        << problems[i] << " output " << n << " at " << (size.empty() ? 0 : size[0]);
            }
}

std::string layout_of(const std::string& text, const std::string& kernel_id) {
    const auto symbols = Symbols::create();
    const Problem problem = parse_problem(text, *symbols);
    for (const Kernel& kernel : h100_kernels().kernels)
        if (kernel.id == kernel_id && kernel.output_layout) return kernel.output_layout(problem, 0);
    return "no kernel";
}

// A product alone or with terms that are added, in so many parts that its blocks fill an H100.
TEST(CudaPartialSums, AreWrittenWhereTheDepthCanBeSplit) {
    const std::string matmul = "cuda.product_rows.matmul.f32@1", fused = "cuda.product_rows.fused.f32@1";
    EXPECT_EQ(layout_of("matmul | f32[1,768] f32[768,768]! -> f32[1,768]", matmul), "partial_sums.6");
    EXPECT_EQ(layout_of("matmul | f32[1,3072] f32[3072,768]! -> f32[1,768]", matmul), "partial_sums.8");
    EXPECT_EQ(layout_of("matmul | f32[1,768] f32[768,3072]! -> f32[1,3072]", matmul), "partial_sums.2");
    EXPECT_EQ(layout_of("matmul | f32[1,768] f32[768,50257]! -> f32[1,50257]", matmul), "");
    EXPECT_EQ(layout_of("matmul | f32[1,100] f32[100,768]! -> f32[1,768]", matmul), "") << "a short depth";
    EXPECT_EQ(layout_of("matmul | f32[1,768] f32[768,768]:(2,1536)! -> f32[1,768]", matmul), "") << "is refused";
    const std::string head = " | f32[1,768] f32[768,768]! f32[1,768] -> f32[1,768] results ";
    EXPECT_EQ(layout_of("fused {3=matmul(0,1):f32 4=add(3,2):f32}" + head + "(4)", fused), "partial_sums.6");
    EXPECT_EQ(layout_of("fused {3=matmul(0,1):f32 4=add(2,3):f32}" + head + "(4)", fused), "partial_sums.6");
    EXPECT_EQ(layout_of("fused {3=matmul(0,1):f32 4=add(3,3):f32}" + head + "(4)", fused), "") << "twice the product";
    EXPECT_EQ(layout_of("fused {3=matmul(0,1):f32 4=mul(3,2):f32}" + head + "(4)", fused), "");
    EXPECT_EQ(layout_of("fused {3=matmul(0,1):f32 4=tanh(3):f32 5=add(4,2):f32}" + head + "(5)", fused), "");
}

}  // namespace
}  // namespace cairn::kernels::cuda
