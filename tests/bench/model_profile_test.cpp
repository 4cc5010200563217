#include "bench/model_profile.hpp"

#include <gmock/gmock.h>

namespace bench {
namespace {

cairn::InstructionProfile instruction(std::string kernel, std::string problem, double seconds,
                                      std::vector<cairn::ThreadSpan> threads) {
    return {std::move(kernel), std::move(problem), seconds, 0, std::move(threads)};
}

TEST(ModelProfile, GroupsByKernelAndProblem) {
    // Each group has its median of the three iterations; idle time is that of all iterations.
    std::vector<std::vector<cairn::InstructionProfile>> iterations;
    for (const double scale : {1.0, 4.0, 2.0})
        iterations.push_back({instruction("a@1", "x", 1 * scale, {{0, 1 * scale}, {0, 0.5 * scale}}),
                              instruction("a@1", "y", 8 / scale, {{0, 8 / scale}}),
                              instruction("a@1", "x", 2 * scale, {{0, 2 * scale}, {0, 1 * scale}})});
    const std::vector<InstructionGroup> kinds = group_by_kernel(iterations);
    ASSERT_EQ(kinds.size(), 2U);
    EXPECT_EQ(kinds[0].problem, "x");
    EXPECT_EQ(kinds[0].count, 2);
    EXPECT_EQ(kinds[0].seconds, 6);
    EXPECT_DOUBLE_EQ(kinds[0].idle, 0.25);
    EXPECT_EQ(kinds[1].problem, "y");
    EXPECT_EQ(kinds[1].seconds, 4);
    EXPECT_EQ(kinds[1].idle, 0);
}

TEST(ModelProfile, OfNoInstructionsIsEmpty) { EXPECT_TRUE(group_by_kernel({}).empty()); }

}  // namespace
}  // namespace bench
