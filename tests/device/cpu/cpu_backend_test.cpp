#include "device/cpu/cpu_backend.hpp"

#include "device/cpu/team_clock.hpp"
#include "tests/errors/message.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace cairn::device {
namespace {

TEST(CpuBackend, MemoryOfEveryUseIsZeroAlignedAndAtAFixedAddress) {
    const auto cpu = cpu_backend(2);
    for (const MemoryUse use : {MemoryUse::arena, MemoryUse::scratch, MemoryUse::state}) {
        const std::unique_ptr<Memory> memory = cpu->reserve(9 << 20, use);
        ASSERT_EQ(memory->capacity(), 9U << 20);
        std::byte* const base = memory->data();
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(base) % Memory::alignment, 0U);
        memory->touch(0, 5);
        EXPECT_EQ(base[4], std::byte{});
        std::memset(base, 1, 5);
        memory->touch(8 << 20, 1 << 20);
        EXPECT_EQ(memory->data(), base);
        EXPECT_EQ(base[4], std::byte{1}) << "contents stay";
        EXPECT_EQ(base[(9 << 20) - 1], std::byte{});
        EXPECT_NO_THROW(cpu->reserve(0, use)->touch(0, 0));
        EXPECT_NE(test::message([&] { cpu->reserve(std::numeric_limits<std::size_t>::max() / 4, use); }).find("bytes"),
                  std::string::npos);
    }
}

/// Counts the members that ran each launch.
void count(const Args& args, Team& team) {
    auto& members = *reinterpret_cast<std::atomic<int>*>(args.workspace);
    ++members;
    team.barrier();
}

struct Launches {
    explicit Launches(std::size_t number) : members(number), list(number) {
        for (std::size_t i = 0; i < number; ++i) {
            list[i].run = count;
            list[i].args.workspace = reinterpret_cast<std::byte*>(&members[i]);
        }
    }
    std::vector<int> run(CommandBuffer& commands) {
        for (std::atomic<int>& each : members) each = 0;
        Submission submission;
        commands.run(submission);
        EXPECT_EQ(submission.begun(), static_cast<std::int64_t>(list.size()));
        return {members.begin(), members.end()};
    }
    std::vector<std::atomic<int>> members;
    std::vector<KernelLaunch> list;
};

TEST(CpuBackend, OneThreadRunsSmallLaunches) {
    const auto cpu = cpu_backend(3);
    Launches launches(4);
    const std::unique_ptr<CommandBuffer> commands = cpu->record(launches.list, {});
    EXPECT_EQ(commands->threads(), 3);
    EXPECT_EQ(launches.run(*commands), (std::vector<int>{3, 3, 3, 3})) << "unless their size is known, all are shared";
    for (const std::size_t i : {1, 2}) launches.list[i].bytes = 8192;
    launches.list[0].bytes = launches.list[3].bytes = 8193;
    commands->update();
    EXPECT_EQ(commands->threads(), 3);
    EXPECT_EQ(launches.run(*commands), (std::vector<int>{3, 1, 1, 3}));
    for (KernelLaunch& launch : launches.list) launch.bytes = 0;
    commands->update();
    EXPECT_EQ(commands->threads(), 1);
    EXPECT_EQ(launches.run(*commands), (std::vector<int>{1, 1, 1, 1}));
}

TEST(CpuBackend, ItsKernelsHaveNoText) { EXPECT_THROW(cpu_backend(1)->compile({}), InternalError); }

TEST(CpuBackend, AnEmptyCommandBufferRuns) {
    const auto cpu = cpu_backend(2);
    const std::unique_ptr<CommandBuffer> commands = cpu->record({}, {});
    Submission submission;
    commands->run(submission);
    EXPECT_EQ(submission.begun(), 0);
    EXPECT_EQ(commands->threads(), 1);
}

TEST(CpuBackend, AFailureAndAnExceptionAreOutcomes) {
    const auto cpu = cpu_backend(2);
    Launches launches(3);
    const std::unique_ptr<CommandBuffer> commands = cpu->record(launches.list, {});
    launches.list[1].run = [](const Args&, Team& team) {
        if (team.rank() == 1) team.fail("no", 2, 3, 4);
    };
    Submission failing;
    commands->run(failing);
    EXPECT_EQ(failing.failed, 1);
    ASSERT_TRUE(failing.failure.has_value());
    EXPECT_STREQ(failing.failure->reason, "no");
    EXPECT_EQ(failing.failure->input, 2);
    EXPECT_EQ(failing.begun(), 2);
    launches.list[1].run = [](const Args&, Team&) { throw 5; };
    Submission throwing;
    commands->run(throwing);
    EXPECT_EQ(throwing.failed, 1);
    EXPECT_NE(throwing.thrown, nullptr);
    EXPECT_FALSE(throwing.failure.has_value()) << "of the submission before";
    launches.list[1].run = count;
    EXPECT_EQ(launches.run(*commands), (std::vector<int>{2, 2, 2}));
}

TEST(CpuBackend, TimesIncludeEveryThread) {
    const auto cpu = cpu_backend(2);
    Launches launches(2);
    const std::unique_ptr<CommandBuffer> commands = cpu->record(launches.list, {});
    std::vector<TimeSpan> spans(4, {-1, -1});
    Submission submission;
    submission.spans = spans.data();
    commands->run(submission);
    for (const TimeSpan& span : spans) {
        EXPECT_GE(span.begin, 0);
        EXPECT_GE(span.end, span.begin);
    }
    EXPECT_GE(spans[2].begin, spans[1].begin) << "the second launch begins after the first one";
}

struct Numbered final : CallArguments {
    explicit Numbered(std::atomic<int>* calls) { args.workspace = reinterpret_cast<std::byte*>(calls); }
    const Args& next() noexcept override {
        args.prepared = ++number % 2 == 0 ? this : nullptr;
        return args;
    }
    Args args{};
    int number = 0;
};

TEST(CpuBackend, TimedCallsUseSeparateArgumentsOnEachThread) {
    for (const int threads : {1, 2}) {
        const auto cpu = cpu_backend(threads);
        std::atomic<int> calls = 0, sequences = 0;
        TimedCalls timed{count, 5, [&] {
                             ++sequences;
                             return std::make_unique<Numbered>(&calls);
                         }};
        std::optional<Failure> failure;
        EXPECT_GT(cpu->time(timed, failure), 0);
        EXPECT_EQ(calls, 5 * threads);
        EXPECT_EQ(sequences, threads);
        EXPECT_FALSE(failure.has_value());
        timed.run = [](const Args& args, Team& team) {
            if (args.prepared != nullptr) team.fail("every second one");
        };
        cpu->time(timed, failure);
        ASSERT_TRUE(failure.has_value());
        EXPECT_STREQ(failure->reason, "every second one");
    }
}

TEST(CpuBackend, HostThreadsRunABody) {
    const auto cpu = cpu_backend(3);
    std::vector<int> ranks(3, 0);
    cpu->host_threads().run(
        [](void* context, int rank, int size) {
            (*static_cast<std::vector<int>*>(context))[static_cast<std::size_t>(rank)] += size;
        },
        &ranks);
    EXPECT_EQ(ranks, (std::vector<int>{3, 3, 3}));
    EXPECT_EQ(cpu->threads(), 3);
    EXPECT_EQ(cpu->host_threads().size(), 3);
}

TEST(CpuBackend, TheFingerprintContainsPropertiesThatChangeTimes) {
    const auto one = cpu_backend(1), two = cpu_backend(2);
    const FeatureSet all = one->features();
    EXPECT_NE(one->fingerprint(all), two->fingerprint(all));
    EXPECT_EQ(one->fingerprint(all), cpu_backend(1)->fingerprint(all));
    if (!all.empty()) { EXPECT_NE(one->fingerprint(all), one->fingerprint({})); }
    EXPECT_GT(one->page_bytes(), 0U);
    EXPECT_GE(one->caches().shared_bytes, 0);
}

TEST(TeamClock, IncludesWorkOfOthersBeforeAMemberArrives) {
    TeamClock clock(2);
    clock.start(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    clock.stop(1);
    clock.start(0);
    clock.stop(0);
    EXPECT_GE(clock.seconds(), 0.002);
}

}  // namespace
}  // namespace cairn::device
