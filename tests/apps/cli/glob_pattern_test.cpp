#include "apps/cli/glob_pattern.hpp"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

TEST(GlobPattern, MatchTheEntireText) {
    EXPECT_TRUE(glob_matches("*", ""));
    EXPECT_TRUE(glob_matches("cpu.*.exp.f3?@1", "cpu.avx2.exp.f32@1"));
    EXPECT_FALSE(glob_matches("cpu.*.exp", "cpu.avx2.exp.f32@1"));
    EXPECT_TRUE(glob_matches("matmul | f32[1,*", "matmul | f32[1,8] f32[8,8] -> f32[1,8]")) << "brackets are brackets";
}

TEST(GlobPattern, ThatAreInvalidAreRefused) {
    EXPECT_EQ(glob_error("cpu.*"), "");
    EXPECT_NE(glob_error(""), "");
    EXPECT_NE(glob_error("a\nb"), "");
    EXPECT_NE(glob_error(std::string("a\0b", 3)), "");
}

}  // namespace
}  // namespace cairn::cli
