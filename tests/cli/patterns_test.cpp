#include "cli/patterns.hpp"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

TEST(Patterns, MatchTheWholeText) {
    EXPECT_TRUE(matches("*", ""));
    EXPECT_TRUE(matches("cpu.*.exp.f3?@1", "cpu.avx2.exp.f32@1"));
    EXPECT_FALSE(matches("cpu.*.exp", "cpu.avx2.exp.f32@1"));
    EXPECT_TRUE(matches("matmul | f32[1,*", "matmul | f32[1,8] f32[8,8] -> f32[1,8]")) << "brackets are brackets";
}

TEST(Patterns, ThatCanBeNoneAreRefused) {
    EXPECT_EQ(fault_of_pattern("cpu.*"), "");
    EXPECT_NE(fault_of_pattern(""), "");
    EXPECT_NE(fault_of_pattern("a\nb"), "");
    EXPECT_NE(fault_of_pattern(std::string("a\0b", 3)), "");
}

}  // namespace
}  // namespace cairn::cli
