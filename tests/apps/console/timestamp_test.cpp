#include "apps/console/timestamp.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cairn::console {
namespace {

constexpr std::int64_t second = 1'000'000'000, sample_time = 1'795'460'393 * second;  // 2026-11-23T18:59:53Z

TEST(Timestamp, AgesAreRelativeToNow) {
    EXPECT_EQ(parse_timestamp("0s", sample_time), sample_time);
    EXPECT_EQ(parse_timestamp("90s", sample_time), sample_time - 90 * second);
    EXPECT_EQ(parse_timestamp("5m", sample_time), sample_time - 300 * second);
    EXPECT_EQ(parse_timestamp("1.5h", sample_time), sample_time - 5400 * second);
    EXPECT_EQ(parse_timestamp("30d", sample_time), sample_time - 30 * 86'400 * second);
    EXPECT_EQ(parse_timestamp("2w", sample_time), sample_time - 14 * 86'400 * second);
    EXPECT_EQ(parse_timestamp("99999w", sample_time), 0) << "before there was a clock";
    EXPECT_EQ(parse_timestamp("1e30d", sample_time), 0);
}

TEST(Timestamp, DatesAreOfUtc) {
    EXPECT_EQ(parse_timestamp("1970-01-02", 0), 86'400 * second);
    EXPECT_EQ(parse_timestamp("2026-11-23T18:59:53Z", 0), sample_time);
    EXPECT_EQ(parse_timestamp("2026-11-23T18:59:53", 0), sample_time);
    EXPECT_EQ(parse_timestamp("2024-02-29", 0), 1'709'164'800 * second);
    EXPECT_GT(parse_timestamp("2261-12-31", 0).value(), 0);
}

TEST(Timestamp, OtherTextsAreRefused) {
    for (const char* wrong : {"",
                              "d",
                              "30",
                              "-1d",
                              "nan d",
                              "nand",
                              "30 d",
                              "30x",
                              "yesterday",
                              "2026-13-01",
                              "2025-02-29",
                              "2026-11-31",
                              "2026-11-2",
                              "2026-11-23T",
                              "2026-11-23T18:59",
                              "2026-11-23T24:00:00Z",
                              "2026-11-23T18:60:00",
                              "2026-11-23 18:59:53",
                              "2026-1--1",
                              "-026-11-01",
                              "2262-01-01",
                              "1969-12-31"}) {
        EXPECT_EQ(parse_timestamp(wrong, sample_time), std::nullopt) << wrong;
        EXPECT_NE(timestamp_error(wrong), "");
    }
    EXPECT_EQ(timestamp_error("12h"), "");
}

TEST(Timestamp, RoundTripsThroughText) {
    EXPECT_EQ(timestamp_text(0), "never");
    EXPECT_EQ(timestamp_text(sample_time), "2026-11-23T18:59:53Z");
    EXPECT_EQ(timestamp_text(sample_time + second - 1), "2026-11-23T18:59:53Z");
    EXPECT_EQ(parse_timestamp(timestamp_text(951'782'400 * second), 0), 951'782'400 * second);
    EXPECT_EQ(timestamp_text(std::numeric_limits<std::int64_t>::max()), "2262-04-11T23:47:16Z");
}

TEST(Timestamp, NowIsAfter2024) { EXPECT_GT(now(), parse_timestamp("2024-01-01", 0)); }

}  // namespace
}  // namespace cairn::console
