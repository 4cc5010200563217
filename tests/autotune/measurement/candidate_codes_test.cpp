#include "autotune/measurement/candidate_codes.hpp"

#include "autotune/measurement/benchmark.hpp"
#include "cairn/tuning.hpp"
#include "tests/autotune/database/problem.hpp"
#include "tests/device/text_context.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <deque>
#include <stdexcept>
#include <utility>

/// Kernels with code are compiled before they are timed, many at once.
namespace cairn::autotune {
namespace {

using test::problem;
using test::text_code;
using test::text_kernel;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

KernelCode good(const Problem& given) { return text_code(given, "good"); }
KernelCode broken(const Problem& given) { return text_code(given, "broken"); }
KernelCode killing(const Problem& given) { return text_code(given, "killing"); }

class CandidateCodesTest : public testing::Test {
protected:
    CandidateCodesTest() {
        backend->add("good", [](const Args&, auto) { return std::nullopt; });
        backend->add("killing", [this](const Args&, auto) -> std::optional<device::Failure> {
            backend->lost = true;
            throw std::runtime_error("illegal address");
        });
    }
    /// A candidate for exp of `size` elements.
    BenchmarkCandidate candidate(const Kernel& kernel, int size) {
        const std::string shape = "f32[" + std::to_string(size) + "]";
        return {&problems_.emplace_back(problem("exp | " + shape + " -> " + shape)), &kernel};
    }
    std::vector<BenchmarkCandidate> candidates(const Kernel& kernel, int first, int count) {
        std::vector<BenchmarkCandidate> all;
        for (int i = 0; i < count; ++i) all.push_back(candidate(kernel, first + i));
        return all;
    }
    BenchmarkResult benchmark(const std::vector<BenchmarkCandidate>& all, BenchmarkOptions options = {}) {
        return benchmark_candidates(all, *context.impl(), options);
    }
    std::vector<std::size_t> compiled() const {
        std::vector<std::size_t> counts;
        for (const auto& texts : backend->compilations) counts.push_back(texts.size());
        return counts;
    }

    test::TextBackend* backend = nullptr;
    const Kernel first = text_kernel("own.first@1", "exp", good), second = text_kernel("own.second@1", "exp", good),
                 bad = text_kernel("own.bad@1", "exp", broken), deadly = text_kernel("own.deadly@1", "exp", killing);
    const Context context = test::with_text_device({first, second, bad, deadly}, backend);

private:
    std::deque<Problem> problems_;
};

TEST_F(CandidateCodesTest, EachIsCompiledOnceAndAllTogether) {
    CandidateCodes codes(*context.impl());
    const auto all = candidates(first, 1, 5);
    codes.compile(all, {});
    codes.compile(all, {});
    EXPECT_THAT(compiled(), ElementsAre(5));
    for (const BenchmarkCandidate& each : all) {
        ASSERT_NE(codes.find(*each.kernel, *each.problem), nullptr);
        EXPECT_NE(codes.find(*each.kernel, *each.problem)->code, nullptr);
    }
    EXPECT_EQ(codes.find(second, *all[0].problem), nullptr);
    codes.compile(candidates(first, 10, 20), {});
    EXPECT_THAT(compiled(), ElementsAre(5, 16, 4)) << "a compilation is bounded";
}

TEST_F(CandidateCodesTest, LaterCandidatesFillACompilation) {
    CandidateCodes codes(*context.impl());
    int asked = 0;
    CompilationOptions options;
    options.upcoming = [&] {
        ++asked;
        return candidates(second, 1, 30);
    };
    codes.compile(candidates(first, 1, 2), options);
    EXPECT_THAT(compiled(), ElementsAre(16));
    codes.compile(candidates(second, 1, 14), options);
    EXPECT_EQ(asked, 1) << "all are compiled";
}

TEST_F(CandidateCodesTest, NothingIsCompiledThatWouldTakeTooLong) {
    CandidateCodes codes(*context.impl());
    CompilationOptions options;
    options.until = Clock::now();
    codes.compile(candidates(first, 1, 3), options);
    EXPECT_THAT(compiled(), IsEmpty());
    // Of later candidates as many as take a tenth of the time, by the pace of the last compilation.
    backend->compile_time = std::chrono::milliseconds(50);
    codes.compile(candidates(first, 1, 1), {});
    options.until = time_point_after(5);
    options.upcoming = [&] { return candidates(second, 1, 30); };
    codes.compile(candidates(first, 2, 1), options);
    ASSERT_THAT(compiled(), SizeIs(2));
    EXPECT_GE(compiled()[1], 2U);
    EXPECT_LE(compiled()[1], 11U);
}

TEST_F(CandidateCodesTest, ACompilationIsAnnounced) {
    using Announced = std::pair<std::size_t, std::size_t>;  // needed candidates, texts
    CandidateCodes codes(*context.impl());
    std::vector<Announced> announced;
    CompilationOptions options;
    options.on_compile = [&](std::span<const BenchmarkCandidate> needed, std::size_t texts) {
        announced.emplace_back(needed.size(), texts);
    };
    codes.compile(candidates(first, 1, 17), options);
    EXPECT_THAT(announced, ElementsAre(Announced(16, 16), Announced(0, 0), Announced(1, 1), Announced(0, 0)));
    options.upcoming = [&] { return candidates(second, 1, 3); };
    announced.clear();
    codes.compile(candidates(first, 30, 2), options);
    EXPECT_THAT(announced, ElementsAre(Announced(2, 5), Announced(0, 0)));
    backend->has_compiler = false;
    EXPECT_EQ(test::message([&] { codes.compile(candidates(first, 50, 1), options); }),
              "[device] there is no compiler");
    EXPECT_EQ(announced.back(), Announced(0, 0));
}

TEST_F(CandidateCodesTest, ABenchmarkCompilesItsCandidatesTogether) {
    const BenchmarkResult result = benchmark({candidate(first, 8), candidate(second, 8), candidate(bad, 8)});
    EXPECT_THAT(compiled(), ElementsAre(3, 1, 1, 1)) << "once more each, since one does not compile";
    for (const int i : {0, 1}) {
        EXPECT_EQ(result.timings[static_cast<std::size_t>(i)].status, TimingStatus::ok);
        EXPECT_NEAR(result.timings[static_cast<std::size_t>(i)].median, backend->call_seconds, 1e-9);
    }
    EXPECT_EQ(result.timings[2].status, TimingStatus::failed);
    EXPECT_THAT(result.timings[2].note, HasSubstr("[measure] own.bad@1: [device] broken"));
    EXPECT_THAT(result.timings[2].note, HasSubstr("with the log\nno broken"));
    EXPECT_EQ(result.lost_device, nullptr);
}

TEST_F(CandidateCodesTest, CompilingIsNotPartOfATimeAndCountsBeforeTheDeadline) {
    backend->compile_time = std::chrono::milliseconds(30);
    const BenchmarkResult result = benchmark({candidate(first, 8)});
    EXPECT_LT(result.seconds, 0.03);
    EXPECT_NEAR(result.timings[0].median, backend->call_seconds, 1e-9);
    BenchmarkOptions options;
    options.until = time_point_after(0.02);
    const BenchmarkResult late = benchmark({candidate(first, 9)}, options);
    EXPECT_EQ(late.timings[0].status, TimingStatus::censored);
    EXPECT_EQ(late.timings[0].bound, 0) << "it was not run";
}

TEST_F(CandidateCodesTest, ExcludedCandidatesAreNotCompiled) {
    BenchmarkOptions options;
    options.elimination.incumbent_seconds = 1e-4;
    BenchmarkCandidate slow = candidate(second, 8);
    slow.lower_bound = 1;
    benchmark({candidate(first, 8), slow}, options);
    EXPECT_THAT(compiled(), ElementsAre(1));
}

TEST_F(CandidateCodesTest, ALostDeviceEndsABenchmarkAndFailsOnlyTheCandidateThatRan) {
    const BenchmarkResult result = benchmark({candidate(first, 8), candidate(deadly, 8), candidate(second, 8)});
    EXPECT_EQ(result.timings[1].status, TimingStatus::failed);
    EXPECT_THAT(result.timings[1].note, HasSubstr("own.deadly@1: illegal address"));
    for (const std::size_t i : {0U, 2U}) {
        EXPECT_EQ(result.timings[i].status, TimingStatus::censored) << i;
        EXPECT_EQ(result.timings[i].bound, 0) << i;
    }
    EXPECT_NE(result.lost_device, nullptr);
    EXPECT_EQ(test::message([&] { benchmark({candidate(first, 9)}); }), "[device] the device is lost");
}

TEST_F(CandidateCodesTest, ABlockIsLongEnoughForTheClock) {
    backend->call_seconds = 1e-6;
    const BenchmarkResult result = benchmark({candidate(first, 8)});
    EXPECT_GE(result.timings[0].inner, 100) << "200 steps of half a microsecond";
    backend->call_seconds = 1e-3;
    EXPECT_EQ(benchmark({candidate(first, 9)}).timings[0].inner, 1);
}

TEST_F(CandidateCodesTest, OneKernelIsMeasured) {
    const Timing timing = measure(problem("exp | f32[8] -> f32[8]"), "own.first@1", context, {.blocks = 3});
    EXPECT_NEAR(timing.median, backend->call_seconds, 1e-9);
    EXPECT_EQ(timing.samples, 3);
    EXPECT_THAT(compiled(), ElementsAre(1));
    EXPECT_THAT(test::message([&] { measure(problem("exp | f32[8] -> f32[8]"), "own.bad@1", context); }),
                HasSubstr("[measure] own.bad@1: [device] broken"));
    const Problem up = problem("copy_to device=(1) | f32[8] -> f32[8]");
    EXPECT_NEAR(measure(up, "cuda.link.copy_to@1", context, {.blocks = 3}).median, backend->call_seconds, 1e-9);
}

TEST_F(CandidateCodesTest, TheCodeIsReleasedWithTheOperands) {
    benchmark({candidate(first, 8)});
    EXPECT_NE(context.impl()->candidate_codes, nullptr);
    release_operand_memory(*context.impl());
    EXPECT_EQ(context.impl()->candidate_codes, nullptr);
}

}  // namespace
}  // namespace cairn::autotune
