#include "apps/cli/output.hpp"

#include "cairn/problem.hpp"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

TEST(Output, NanosecondsKeepAThousandth) {
    EXPECT_EQ(nanoseconds(1.2345678e-6), 1234.568);
    EXPECT_EQ(nanoseconds(0), 0);
}

TEST(Output, DigestsCoverCallsInOrder) {
    CallDigest one, other, none;
    one.add("a@1", "exp | f32[4] -> f32[4]");
    one.add("b@1", "log | f32[4] -> f32[4]");
    other.add("b@1", "log | f32[4] -> f32[4]");
    other.add("a@1", "exp | f32[4] -> f32[4]");
    EXPECT_EQ(one.text().size(), 32u);
    EXPECT_NE(one.text(), other.text());
    EXPECT_EQ(none.text(), to_string(digest("")));
}

}  // namespace
}  // namespace cairn::cli
