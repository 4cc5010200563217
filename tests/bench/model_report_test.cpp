#include "bench/model_report.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace bench {
namespace {

cairn::Calibration machine(double flops, double bandwidth) {
    cairn::Calibration result;
    result.flops = flops;
    result.bandwidth = bandwidth;
    return result;
}

TEST(RooflineLimit, IsTheMaximumOfBothTimesAtTheBetterRates) {
    const RooflineLimit limit = roofline_limit({.flops = 400, .bytes = 100}, machine(100, 20), machine(200, 10));
    EXPECT_EQ(limit.compute_seconds, 2);
    EXPECT_EQ(limit.read_seconds, 5);
    EXPECT_EQ(limit.seconds(), 5);
    EXPECT_EQ(roofline_limit({.flops = 4000, .bytes = 100}, machine(100, 20), machine(200, 10)).seconds(), 20);
}

TEST(RooflineLimit, OfCachedDataUsesTheCacheBandwidth) {
    cairn::Calibration cached = machine(100, 10);
    cached.cache_bytes = 100;
    cached.cache_bandwidth = 50;
    EXPECT_EQ(roofline_limit({.flops = 1, .bytes = 100}, cached, machine(1, 1)).read_seconds, 2);
    EXPECT_EQ(roofline_limit({.flops = 1, .bytes = 101}, cached, machine(1, 1)).read_seconds, 10.1);
}

TEST(Median, OfAnOddNumberIsTheMiddleOne) {
    EXPECT_EQ(median({3, 1, 2}), 2);
    EXPECT_EQ(median({7}), 7);
    EXPECT_THROW(median({}), cairn::Error);
}

TEST(ModelReport, TextAndJsonReportTheSameResults) {
    Report report;
    report.model = "m";
    report.mode = "off";
    report.iterations = {4e6, 2e6, 3e6};
    report.beside = PairedTimes{{1e6, 2e6, 3e6}, {5e6, 4e6, 3e6}};
    report.busy_cpu = 7;
    report.needs = {.flops = 1e6, .bytes = 1e6};
    report.before = report.after = machine(1e9, 2e9);
    const nlohmann::ordered_json json = json_of(report);
    EXPECT_EQ(json["best_ns"], 2e6);
    EXPECT_EQ(json["median_ns"], 3e6);
    EXPECT_EQ(json["limit_ns"], 1e6);
    EXPECT_EQ(json["fraction_of_limit_best"], 0.5);
    EXPECT_EQ(json["beside"]["slowdown_median"], 2);
    EXPECT_TRUE(json["error"].is_null());
    const std::string table = table_of(report);
    for (const char* part : {"best 2.000 ms, median 3.000 ms of 3 iterations", "limit", "best 0.500", "no reference",
                             "on CPU 7", "slow-down 2.00x"})
        EXPECT_THAT(table, testing::HasSubstr(part));
}

}  // namespace
}  // namespace bench
