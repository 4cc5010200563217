#include "apps/cli/timing_output.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cairn::cli {
namespace {

TEST(TimingOutput, TimesOfAnotherNumberOfThreadsAreOfThisMachine) {
    const std::string one = "cairn 0.1 | Maker | Twelve | avx2 of avx2 | threads 1 cpus 0-1 | gcc 12",
                      two = "cairn 0.1 | Maker | Twelve | avx2 of avx2 | threads 2 cpus 0-1 | gcc 12",
                      other = "cairn 0.1 | Maker | Thirteen | avx2 of avx2 | threads 2 cpus 0-1 | gcc 12";
    const auto match = [](const std::string& hard, const std::string& here) {
        const TimingEnvironment cpu{here, ""};
        return environment_match_text(hard, {&cpu, 1});
    };
    EXPECT_EQ(match(one, one), "here");
    EXPECT_EQ(match(two, one), "here, measured with 2 threads, not 1");
    EXPECT_EQ(match(one, two), "here, measured with 1 threads, not 2");
    EXPECT_EQ(match(other, two), "elsewhere");
    EXPECT_EQ(match(other, one), "elsewhere") << "another machine, with any number of threads";
    EXPECT_EQ(match("invented", one), "elsewhere");
    EXPECT_EQ(match("", one), "elsewhere");
    EXPECT_EQ(match(one + " | more", one), "elsewhere");
}

TEST(TimingOutput, TimesOfAGpuAreHereIfItIsNamed) {
    const std::string cpu = "cairn 0.1 | Maker | Twelve | avx2 of avx2 | threads 1 cpus 0-1 | gcc 12",
                      gpu = "cairn 0.1 | cuda | NVIDIA H100 | driver 13.0 | NVRTC 13.0",
                      newer = "cairn 0.1 | cuda | NVIDIA H100 | driver 13.1 | NVRTC 13.0";
    const std::vector<TimingEnvironment> without{{cpu, ""}},
        with{{cpu, ""}, {gpu, ""}, {gpu + " | link of cuda to Maker", ""}, {gpu + " beside " + cpu, ""}};
    const auto here = [](const std::string& hard, const std::vector<TimingEnvironment>& all) {
        OutputRow row;
        add_environment_match(row, hard, all);
        return row["here"];
    };
    for (const std::string& each : {gpu, newer, gpu + " | link of cuda to Maker", gpu + " beside " + cpu}) {
        EXPECT_TRUE(is_gpu_environment(each));
        EXPECT_EQ(environment_match_text(each, without), "of a GPU") << "whether it is this one is unknown";
        EXPECT_TRUE(here(each, without).is_null());
        EXPECT_EQ(environment_match_text(each, with), each == newer ? "elsewhere" : "here");
        EXPECT_EQ(here(each, with), each != newer);
    }
    EXPECT_EQ(environment_match_text(cpu, with), "here");
    EXPECT_EQ(here(cpu, with), true);
    for (const std::string& each : {cpu, std::string("cuda"), std::string("cairn 0.1 | cuda"), std::string()})
        EXPECT_FALSE(is_gpu_environment(each)) << each;
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
