#include "autotune/measurement/benchmark.hpp"

#include "tests/autotune/database/problem.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace cairn::autotune {
namespace {

using test::problem;

int calls[4];

/// Takes `milliseconds` in each call and counts them.
template <int Number, int Milliseconds>
void sleeping(const Args&, Team& team) {
    if (team.rank() == 0) ++calls[Number];
    std::this_thread::sleep_for(std::chrono::milliseconds(Milliseconds));
}

using Run = void (*)(const Args&, Team&);

Kernel kernel(const char* id, Run run) {
    Kernel made;
    made.id = id;
    made.definition = "exp";
    made.accepts = [](const Problem&) -> Refusal { return {}; };
    made.run = run;
    return made;
}

class BenchmarkTest : public testing::Test {
protected:
    BenchmarkResult run(const std::vector<Kernel>& kernels, double seconds) {
        for (int& count : calls) count = 0;
        std::vector<BenchmarkCandidate> candidates;
        for (const Kernel& each : kernels) candidates.push_back({&exp, &each});
        BenchmarkOptions options;
        options.elimination.seconds = seconds;
        return benchmark_candidates(candidates, *context.impl(), options);
    }

    Context context{{.threads = 2}};
    Problem exp = problem("exp | f32[16]! -> f32[16]");
};

TEST_F(BenchmarkTest, FindsTheFasterKernelAndKeepsAllTimes) {
    const BenchmarkResult result = run({kernel("slow@1", &sleeping<0, 4>), kernel("fast@1", &sleeping<1, 1>)}, 10);
    ASSERT_EQ(result.timings.size(), 2U);
    EXPECT_GE(result.timings[0].median, 0.004);
    EXPECT_GE(result.timings[1].median, 0.001);
    EXPECT_LT(result.timings[1].min, result.timings[0].min);
    EXPECT_EQ(result.timings[1].samples, 3);
    EXPECT_EQ(calls[1], 4) << "the first run is made once";
    EXPECT_EQ(result.timings[0].samples, calls[0] - 1);
    EXPECT_GT(result.seconds, 0.008);
}

TEST_F(BenchmarkTest, AFailingKernelDoesNotStopTheOthers) {
    const auto throwing = kernel("throws@1", [](const Args&, Team&) { throw std::runtime_error("boom"); });
    const auto later = kernel("later@1", [](const Args&, Team& team) {
        if (team.rank() == 0 && ++calls[2] == 3) throw 1;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    auto refusing = kernel("refuses@1", &sleeping<3, 1>);
    refusing.accepts = [](const Problem&) -> Refusal { return "not today"; };
    const BenchmarkResult result = run({throwing, kernel("good@1", &sleeping<1, 1>), later, refusing}, 10);
    EXPECT_EQ(result.timings[0].note, "[measure] throws@1: boom");
    EXPECT_EQ(result.timings[1].status, TimingStatus::ok);
    EXPECT_EQ(result.timings[2].note, "[measure] later@1: threw an exception that is not a std::exception");
    EXPECT_EQ(result.timings[3].note, "[measure] refuses@1 refuses exp | f32[16]! -> f32[16]: not today");
    for (const int c : {0, 2, 3}) EXPECT_EQ(result.timings[static_cast<std::size_t>(c)].status, TimingStatus::failed);
}

TEST_F(BenchmarkTest, AKernelBeyondTheBudgetRunsOnce) {
    const BenchmarkResult result = run({kernel("slow@1", &sleeping<0, 60>), kernel("fast@1", &sleeping<1, 1>)}, 0.1);
    EXPECT_EQ(calls[0], 1);
    EXPECT_EQ(result.timings[0].status, TimingStatus::censored);
    EXPECT_GE(result.timings[0].bound, 0.06);
    EXPECT_EQ(result.timings[1].status, TimingStatus::ok);
    const BenchmarkResult late = run({kernel("slow@1", &sleeping<0, 60>), kernel("fast@1", &sleeping<1, 1>)}, 0.03);
    EXPECT_EQ(calls[0], 1);
    EXPECT_EQ(calls[1], 0);
    EXPECT_EQ(late.timings[1].status, TimingStatus::censored);
    EXPECT_EQ(late.timings[1].bound, 0) << "it was not run";
}

TEST_F(BenchmarkTest, AMuchSlowerKernelRunsOnce) {
    const BenchmarkResult result = run({kernel("fast@1", &sleeping<0, 1>), kernel("slow@1", &sleeping<1, 30>)}, 10);
    EXPECT_EQ(calls[1], 1);
    EXPECT_EQ(result.timings[1].status, TimingStatus::censored);
}

TEST_F(BenchmarkTest, AStopRequestIsObservedBetweenBlocks) {
    static std::stop_source source;
    source = std::stop_source();
    const Kernel stopping = kernel("stops@1", [](const Args&, Team& team) {
        if (team.rank() == 0 && ++calls[0] == 3) source.request_stop();
    });
    const BenchmarkCandidate candidate{&exp, &stopping};
    BenchmarkOptions options;
    options.stop = source.get_token();
    calls[0] = 0;
    EXPECT_THROW(benchmark_candidates({&candidate, 1}, *context.impl(), options), Cancelled);
    EXPECT_THROW(benchmark_candidates({&candidate, 1}, *context.impl(), options), Cancelled) << "at once";
}

TEST_F(BenchmarkTest, ALongMeasurementIsOneRun) {
    const Kernel slow = kernel("slow@1", &sleeping<0, 60>);
    calls[0] = 0;
    const Timing timing = measure_candidate({&exp, &slow}, *context.impl(), {.max_seconds = 0.05});
    EXPECT_EQ(calls[0], 1);
    EXPECT_EQ(timing.status, TimingStatus::censored);
    EXPECT_GE(timing.bound, 0.06);
}

TEST_F(BenchmarkTest, CoarseTimesAreMarked) {
    const std::vector<Kernel> kernels{kernel("fast@1", &sleeping<0, 1>), kernel("slow@1", &sleeping<1, 30>),
                                      kernel("throws@1", [](const Args&, Team&) { throw std::runtime_error("boom"); })};
    std::vector<BenchmarkCandidate> candidates;
    for (const Kernel& each : kernels) candidates.push_back({&exp, &each});
    BenchmarkOptions options;
    options.is_coarse = true;
    options.elimination.seconds = 10;
    const BenchmarkResult result = benchmark_candidates(candidates, *context.impl(), options);
    EXPECT_EQ(result.timings[0].quality, coarse_quality);
    EXPECT_EQ(result.timings[1].quality, coarse_quality) << "censored as it is";
    EXPECT_EQ(result.timings[2].status, TimingStatus::failed);
    EXPECT_GT(result.timings[2].quality, coarse_quality);
}

TEST_F(BenchmarkTest, TimesOfWeightsAreCoarseWithoutTimeToFillTheRotation) {
    const Problem weighted = problem("exp | f32[16]! -> f32[16]"), plain = problem("exp | f32[16] -> f32[16]");
    const Kernel fast = kernel("fast@1", &sleeping<0, 1>);
    const auto quality = [&](const Problem& of, std::chrono::steady_clock::time_point fill_until) {
        const BenchmarkCandidate candidate{&of, &fast};
        BenchmarkOptions options;
        options.elimination.seconds = 10;
        options.fill_until = fill_until;
        return benchmark_candidates({&candidate, 1}, *context.impl(), options).timings[0].quality;
    };
    const std::chrono::steady_clock::time_point past;
    release_operand_memory(*context.impl());
    EXPECT_EQ(quality(weighted, past), coarse_quality);
    EXPECT_GT(quality(plain, past), coarse_quality) << "it reads no weight";
    EXPECT_GT(quality(weighted, std::chrono::steady_clock::time_point::max()), coarse_quality);
    EXPECT_GT(quality(weighted, past), coarse_quality) << "filled before";
}

// Packed weights lie in the huge pages of an arena, those of the host in ordinary pages.
TEST_F(BenchmarkTest, LargeWeightsOfTheHostHaveMemoryOfTheirOwn) {
    const auto has_own = [&](const char* text) {
        exp = problem(text);
        run({kernel("fast@1", &sleeping<0, 0>)}, 0.01);
        const bool found = context.impl()->host_weight_memory != nullptr;
        release_operand_memory(*context.impl());
        EXPECT_EQ(context.impl()->host_weight_memory, nullptr);
        return found;
    };
    EXPECT_TRUE(has_own("matmul | f32[1,4096] f32[4096,4096]! -> f32[1,4096]"));
    EXPECT_FALSE(has_own("matmul | f32[1,4096] f32[4096,4096]@panel32! -> f32[1,4096]"));
    EXPECT_FALSE(has_own("matmul | f32[1,4096] f32[4096,4]! -> f32[1,4]")) << "a cache may hold it";
    EXPECT_FALSE(has_own("matmul | f32[4096,4096] f32[4096,4096] -> f32[4096,4096]")) << "just computed";
}

TEST_F(BenchmarkTest, NoRunStartsAfterTheDeadline) {
    const Kernel slow = kernel("slow@1", &sleeping<0, 60>);
    const BenchmarkCandidate candidate{&exp, &slow};
    BenchmarkOptions options;
    options.elimination.seconds = 10;
    calls[0] = 0;
    options.until = std::chrono::steady_clock::now();
    EXPECT_EQ(benchmark_candidates({&candidate, 1}, *context.impl(), options).timings[0].bound, 0);
    EXPECT_EQ(calls[0], 0);
    options.until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    benchmark_candidates({&candidate, 1}, *context.impl(), options);
    EXPECT_LE(calls[0], 1);
}

TEST(Noise, OfFewBlocksIsTheirSpread) {
    Timing timing;
    timing.samples = 3;
    timing.min = timing.p10 = 1e-3;
    timing.median = 1.01e-3;
    timing.p90 = 1.1e-3;
    EXPECT_FALSE(has_large_spread(timing));
    timing.p90 = 1.2e-3;
    EXPECT_TRUE(has_large_spread(timing));
    EXPECT_FALSE(is_noisy(timing));
    timing.p90 = 1.1e-3;
    timing.mad = 0.06e-3;
    EXPECT_TRUE(has_large_spread(timing));
    timing.samples = steady_blocks;
    EXPECT_FALSE(has_large_spread(timing)) << "so many stand";
}

TEST(Noise, IsADisturbedOrShortTimeFarFromItsMinimum) {
    Timing timing;
    timing.samples = 3;
    timing.min = 1e-3;
    timing.median = 2.9e-3;
    EXPECT_FALSE(is_noisy(timing));
    timing.median = 3.1e-3;
    EXPECT_TRUE(is_noisy(timing));
    timing.median = 1e-3;
    timing.quality = 1;
    EXPECT_TRUE(is_noisy(timing));
    timing.samples = steady_blocks;
    EXPECT_FALSE(is_noisy(timing)) << "so many stand";
    timing.samples = 3;
    timing.inner = 200;
    EXPECT_FALSE(is_noisy(timing)) << "timed for 0.6 s";
    timing.inner = 1;
    timing.status = TimingStatus::failed;
    EXPECT_FALSE(is_noisy(timing)) << "it has no times";
}

}  // namespace
}  // namespace cairn::autotune
