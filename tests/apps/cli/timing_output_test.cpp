#include "apps/cli/timing_output.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cairn::cli {
namespace {

TEST(TimingOutput, TimesOfAnotherNumberOfThreadsAreOfThisMachine) {
    const std::string one = "cairn 0.1 | Maker | Twelve | avx2 of avx2 | threads 1 cpus 0-1 | gcc 12",
                      two = "cairn 0.1 | Maker | Twelve | avx2 of avx2 | threads 2 cpus 0-1 | gcc 12",
                      other = "cairn 0.1 | Maker | Thirteen | avx2 of avx2 | threads 2 cpus 0-1 | gcc 12";
    EXPECT_EQ(environment_match_text(one, one), "here");
    EXPECT_EQ(environment_match_text(two, one), "here, measured with 2 threads, not 1");
    EXPECT_EQ(environment_match_text(one, two), "here, measured with 1 threads, not 2");
    EXPECT_EQ(environment_match_text(other, two), "elsewhere");
    EXPECT_EQ(environment_match_text(other, one), "elsewhere") << "another machine, with any number of threads";
    EXPECT_EQ(environment_match_text("invented", one), "elsewhere");
    EXPECT_EQ(environment_match_text("", one), "elsewhere");
    EXPECT_EQ(environment_match_text(one + " | more", one), "elsewhere");
}

TEST(TimingOutput, OutcomesAreTimesOrReasons) {
    Timing timing;
    timing.median = 2.5e-6;
    EXPECT_EQ(outcome_text(timing), "2.50 us");
    timing.status = TimingStatus::censored;
    timing.bound = 2;
    EXPECT_EQ(outcome_text(timing), "> 2 s");
    timing.status = TimingStatus::failed;
    EXPECT_EQ(outcome_text(timing), "failed");
}

}  // namespace
}  // namespace cairn::cli
