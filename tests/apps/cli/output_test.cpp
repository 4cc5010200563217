#include "apps/cli/output.hpp"

#include "cairn/problem.hpp"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

TEST(Output, TimesHaveThreeDigitsAndAUnit) {
    EXPECT_EQ(time_text(0), "0 ns");
    EXPECT_EQ(time_text(4.125e-8), "41.2 ns");
    EXPECT_EQ(time_text(4.12e-7), "412 ns");
    EXPECT_EQ(time_text(1.23456e-5), "12.3 us");
    EXPECT_EQ(time_text(1.05e-3), "1.05 ms");
    EXPECT_EQ(time_text(9.9996e-4), "1 ms");
    EXPECT_EQ(time_text(2.5), "2.50 s");
    EXPECT_EQ(time_text(12345), "12345 s");
    EXPECT_EQ(time_text(-2e-6), "-2 us");
}

TEST(Output, BytesHaveThreeDigitsAndAUnit) {
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(512), "512 B");
    EXPECT_EQ(bytes_text(1536), "1.50 KiB");
    EXPECT_EQ(bytes_text(1048576), "1 MiB");
    EXPECT_EQ(bytes_text(497759232), "475 MiB");
}

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
