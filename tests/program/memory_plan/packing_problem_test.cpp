#include "program/memory_plan/packing_problem.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cairn::memory_plan {
namespace {

TEST(PackingProblem, AlignUp) {
    EXPECT_EQ(align_up(0, 64), 0);
    EXPECT_EQ(align_up(1, 64), 64);
    EXPECT_EQ(align_up(64, 64), 64);
    EXPECT_EQ(align_up(65, 64), 128);
    EXPECT_EQ(align_up(7, 1), 7);
}

TEST(PackingProblem, WellFormedProblemsHaveNoFault) {
    EXPECT_EQ(fault_of({}), "");
    EXPECT_EQ(fault_of({{{{0, 5}, 64, 3, 3}}, 2}), "");
    EXPECT_EQ(fault_of({{{{std::int64_t{1} << 61}, 64, -5, 7}}, 1}), "");
}

TEST(PackingProblem, EachFaultIsNamed) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(fault_of({{}, 0}), "a problem needs at least one sample, got 0");
    EXPECT_EQ(fault_of({{{{1}, 64, 0, 0}, {{1, 2}, 64, 0, 0}}, 1}), "buffer 1 has 2 sizes, expected 1");
    EXPECT_EQ(fault_of({{{{-1}, 64, 0, 0}}, 1}), "buffer 0 has -1 bytes");
    EXPECT_EQ(fault_of({{{{1}, 0, 0, 0}}, 1}), "buffer 0 has alignment 0, expected a power of two");
    EXPECT_EQ(fault_of({{{{1}, 48, 0, 0}}, 1}), "buffer 0 has alignment 48, expected a power of two");
    EXPECT_EQ(fault_of({{{{1}, -64, 0, 0}}, 1}), "buffer 0 has alignment -64, expected a power of two");
    EXPECT_EQ(fault_of({{{{1}, 64, 4, 3}}, 1}), "buffer 0 has the live interval 4 to 3");
    EXPECT_EQ(fault_of({{{{most}, 1, 0, 0}}, 1}), "the sizes at sample 0 add up to more than 62 bits");
    EXPECT_EQ(fault_of({{{{1, most / 4}, 1, 0, 0}, {{1, most / 2}, 1, 5, 6}}, 2}),
              "the sizes at sample 1 add up to more than 62 bits");
    EXPECT_EQ(fault_of({{{{1}, std::int64_t{1} << 62, 0, 0}}, 1}), "the sizes at sample 0 add up to more than 62 bits");
}

}  // namespace
}  // namespace cairn::memory_plan
