#include "apps/console/units.hpp"

#include <gtest/gtest.h>

namespace cairn::console {
namespace {

TEST(Units, TimesHaveThreeDigitsAndAUnit) {
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

TEST(Units, BytesHaveThreeDigitsAndAUnit) {
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(512), "512 B");
    EXPECT_EQ(bytes_text(1536), "1.50 KiB");
    EXPECT_EQ(bytes_text(1048576), "1 MiB");
    EXPECT_EQ(bytes_text(497759232), "475 MiB");
}

}  // namespace
}  // namespace cairn::console
