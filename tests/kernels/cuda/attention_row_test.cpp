#include "kernels/partial_sums.hpp"
#include "tests/kernels/cuda/references.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace cairn::kernels::cuda {
namespace {

/// A block of `heads` heads of `depth` elements. `state` and `row` are the strides of keys and values before the row
/// and of those of the row.
struct Block {
    std::int64_t width, heads, depth;
    const char *dtype, *x, *y, *state, *row;
    const char* state_dtype = "f32";
};

std::string text_of(const Block& block) {
    const std::string w = std::to_string(block.width), all = std::to_string(block.heads * block.depth),
                      three = std::to_string(3 * block.heads * block.depth);
    const std::string keys = fmt::format("{}[1,{},P,{}]{}", block.state_dtype, block.heads, block.depth, block.state),
                      row = fmt::format("{}[1,{},1,{}]{}", block.state_dtype, block.heads, block.depth, block.row);
    return fmt::format(
        "attention_block eps=1e-05 scale=0.3 masked_score=-1e+30 | f32[1,1,{0}]{1} f32[{0}]! f32[{0}]! {2}[{0},{3}]! "
        "f32[{3}]! {4} {4} {2}[{5},{0}]! f32[{0}]! -> f32[1,1,{0}]{6} {7} {7} where P in 0..999",
        w, block.x, block.dtype, three, keys, all, block.y, row);
}

const std::vector<Block> blocks{
    {96, 1, 32, "f32", "", "", "", ""},
    {128, 3, 32, "f32", "@partial_sums.4", "@partial_sums.3", ":(9600,3200,32,1)", ":(9600,3200,32,1)"},
    {192, 2, 64, "f16", "@partial_sums.16", "@partial_sums.2", ":(9000,4500,68,1)", ""},
    {64, 2, 128, "bf16", "", "@partial_sums.2", ":(40000,20000,129,1)", ":(512,256,128,1)"},
    {256, 2, 64, "f32", "@partial_sums.2", "@partial_sums.2", "", ""},
    {128, 2, 32, "f32", "", "@partial_sums.2", ":(6400,3200,32,1)", ":(6400,3200,32,1)", "f16"},
    {128, 2, 64, "f16", "@partial_sums.2", "@partial_sums.2", "", "", "bf16"},
    {64, 2, 128, "bf16", "", "@partial_sums.2", ":(40000,20000,129,1)", ":(512,256,128,1)", "f16"},
    {768, 12, 64, "f16", "@partial_sums.16", "@partial_sums.12", ":(76800,6400,64,1)", ":(76800,6400,64,1)"},
};
std::vector<std::string> problems() {
    std::vector<std::string> texts;
    for (const Block& block : blocks) texts.push_back(text_of(block));
    return texts;
}

// No keys before the row, fewer than there are blocks, one more than they share evenly, more than one round of lanes.
constexpr std::array<std::int64_t, 5> lengths{0, 3, 8, 17, 99};

TEST(CudaAttentionRow, IsItsDefinition) {
    const KernelCases cases(problems());
    for (std::size_t i = 0; i < cases.size(); ++i)
        for (const std::int64_t length : lengths)
            for (const std::size_t misaligned : {0, 1}) {
                const bool is_large = i + 1 == cases.size();
                if (misaligned == 1 && (is_large || length != 17)) continue;
                if (is_large && length != 99) continue;
                if (i == 2 && length > 60) continue;  // the state has no room for them
                const std::array symbols{length};
                const Problem problem = cases.at(i, symbols);
                const auto inputs = weights_like_inputs(problem, 7 + i);
                const auto results = cases.run(i, symbols, inputs, {.seed = i, .misaligned = misaligned});
                const auto expected = definition_reference(problem, inputs);
                for (std::size_t output = 0; output < 3; ++output)
                    EXPECT_LE(error_of(sums_of(problem.outputs[output], results[output]), expected[output]), 1e-6)
                        << cases.kernel_id(i) << " " << i << ", " << length << " keys, output " << output
                        << (misaligned == 1 ? ", misaligned" : "");
            }
}

// Scores beyond the range of exponentials, and a value that is not finite in one head.
TEST(CudaAttentionRow, SpecialValues) {
    const KernelCases cases({text_of(blocks[1])});
    const std::array<std::int64_t, 1> symbols{17};
    const Problem problem = cases.at(0, symbols);
    for (const double special : {1e30, -1e30, static_cast<double>(std::numeric_limits<double>::infinity()),
                                 std::numeric_limits<double>::quiet_NaN()})
        for (const std::size_t input : {5, 6}) {
            auto inputs = weights_like_inputs(problem, 3);
            const std::size_t of_second_head = inputs[input].size() / 3 + 70;
            inputs[input][of_second_head] = special;
            const auto results = cases.run(0, symbols, inputs);
            const auto expected = definition_reference(problem, inputs);
            const Numbers y = sums_of(problem.outputs[0], results[0]);
            ASSERT_EQ(y.size(), expected[0].size());
            if (std::isfinite(static_cast<double>(expected[0][0]))) {
                EXPECT_LE(error_of(y, expected[0]), 1e-6) << special << " in input " << input;
            } else {
                for (std::size_t j = 0; j < y.size(); ++j)
                    EXPECT_FALSE(std::isfinite(static_cast<double>(y[j]))) << special << " in input " << input;
            }
        }
}

TEST(CudaAttentionRow, RefusesWhatItCannotComputeAtOnce) {
    const auto refusal = [](const std::string& text) {
        const auto symbols = Symbols::create();
        const Problem problem = parse_problem(text, *symbols);
        for (const Kernel& kernel : h100_kernels().kernels)
            if (kernel.definition == "attention_block") return kernel.accepts(problem);
        return Refusal("there is no kernel");
    };
    const auto replaced = [&](std::string text, const std::string& from, const std::string& to) {
        for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
            text.replace(at, from.size(), to);
        return text;
    };
    const std::string accepted = text_of(blocks[0]);
    EXPECT_EQ(refusal(accepted), "");
    EXPECT_EQ(refusal(replaced(accepted, "]!", "]")), "needs bound weights");
    EXPECT_EQ(refusal(replaced(accepted, "f32[96,96]!", "f32[96,96]:(1,96)!")), "needs dense weights");
    EXPECT_EQ(refusal(replaced(accepted, "f32[96,96]!", "f16[96,96]!")), "needs f32, and matrices of one dtype");
    EXPECT_EQ(refusal(replaced(accepted, "[1,1,P,32]", "[1,1,P,32]:(32*P,32*P,1,P)")), "needs contiguous operands");
    EXPECT_EQ(refusal(replaced(replaced(accepted, "[1,1,96]", "[1,2,96]"), "[1,1,1,32]", "[1,1,2,32]")),
              "needs one row");
    EXPECT_EQ(refusal(text_of({96, 1, 32, "f16", "", "", "", ""})),
              "needs 16 bytes of weights of each head for each block");
    EXPECT_EQ(refusal(text_of({96, 1, 48, "f32", "", "", "", ""})), "needs a head size of 32, 64 or 128");
    EXPECT_EQ(refusal(text_of({100, 1, 32, "f32", "", "", "", ""})),
              "needs rows of a multiple of 32 elements, at most 2048");
    EXPECT_EQ(refusal(text_of({96, 1, 64, "f16", "", "", "", ""})),
              "needs rows of a multiple of 64 elements, at most 2048");
    EXPECT_EQ(refusal(text_of({1024, 8, 128, "f32", "", "@partial_sums.8", "", ""})),
              "needs weights of a block in shared memory");
    EXPECT_EQ(refusal(text_of({128, 3, 32, "f32", "", "@partial_sums.2", "", ""})), "writes one part for each head");
    EXPECT_EQ(refusal(text_of({128, 3, 32, "f32", "", "", "", ""})), "writes one part for each head");
}

}  // namespace
}  // namespace cairn::kernels::cuda
