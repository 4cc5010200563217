#include "runtime/command_list.hpp"

#include "device/cpu/cpu_backend.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace cairn::runtime {
namespace {

/// Kernels that note their numbers, on two devices.
class CommandListTest : public testing::Test {
protected:
    /// A launch of each letter: `c` on the CPU, `d` on the second device; a capital letter fails.
    void record(std::string_view kinds) {
        numbers.clear();
        for (std::size_t i = 0; i < kinds.size(); ++i) numbers.push_back({this, static_cast<int>(i)});
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            const bool fails = kinds[i] < 'a', is_on_device = kinds[i] == 'd' || kinds[i] == 'D';
            device::KernelLaunch& launch = launches.emplace_back();
            launch.run = fails ? [](const Args&, Team& team) { team.fail("no"); } : note;
            launch.args.prepared = &numbers[i];
            launch.bytes = 1;
            backends.push_back(is_on_device ? other.get() : cpu.get());
        }
        commands = std::make_unique<CommandList>(launches, backends, std::span<const std::int64_t>());
    }
    static void note(const Args& args, Team& team) {
        const auto& [self, number] = *static_cast<const std::pair<CommandListTest*, int>*>(args.prepared);
        if (team.rank() == 0) self->ran.push_back(number);
    }

    std::unique_ptr<device::Backend> cpu = device::cpu_backend(2), other = device::cpu_backend(1);
    std::vector<std::pair<CommandListTest*, int>> numbers;
    std::vector<device::KernelLaunch> launches;
    std::vector<device::Backend*> backends;
    std::unique_ptr<CommandList> commands;
    std::vector<int> ran;
};

TEST_F(CommandListTest, ASegmentIsARunOfLaunchesOnOneDevice) {
    record("ccddcd");
    EXPECT_EQ(commands->segments(), 4U);
    device::Submission submission;
    commands->run(submission);
    EXPECT_EQ(ran, (std::vector{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(submission.count, 6);
    EXPECT_EQ(submission.begun(), 6);
    EXPECT_EQ(submission.failed, -1);
}

TEST_F(CommandListTest, WithoutLaunchesNothingRuns) {
    record("");
    EXPECT_EQ(commands->segments(), 0U);
    EXPECT_EQ(commands->threads(), 1);
    device::Submission submission;
    commands->run(submission);
    EXPECT_EQ(submission.begun(), 0);
}

TEST_F(CommandListTest, AFailureEndsTheRunAndIsNumberedInTheWhole) {
    record("cdDcd");
    device::Submission submission;
    commands->run(submission);
    EXPECT_EQ(ran, (std::vector{0, 1}));
    EXPECT_EQ(submission.failed, 2);
    ASSERT_TRUE(submission.failure);
    EXPECT_STREQ(submission.failure->reason, "no");
    EXPECT_EQ(submission.begun(), 3);
}

TEST_F(CommandListTest, ProgressAndStopsCountAllLaunches) {
    record("ccddcd");
    std::vector<std::int64_t> done;
    device::Submission submission;
    submission.caller = &done;
    submission.progress = [](void* caller, std::int64_t count) {
        static_cast<std::vector<std::int64_t>*>(caller)->push_back(count);
    };
    // Polled between the launches of a segment: after the third, in the second segment.
    submission.should_stop = [](void* caller) { return static_cast<std::vector<std::int64_t>*>(caller)->size() == 3; };
    commands->run(submission);
    EXPECT_EQ(done, (std::vector<std::int64_t>{1, 2, 3}));
    EXPECT_EQ(ran, (std::vector{0, 1, 2}));
    EXPECT_EQ(submission.stopped, 3);
    EXPECT_EQ(submission.begun(), 3);
}

TEST_F(CommandListTest, SpansOfAllSegmentsAreInOneClock) {
    record("cddc");
    launches[0].bytes = launches[3].bytes = 1 << 20;  // shared between two threads
    commands->update();
    ASSERT_EQ(commands->threads(), 2);
    std::vector<device::TimeSpan> spans(8);
    device::Submission submission;
    submission.spans = spans.data();
    commands->run(submission);
    double end = 0;
    for (std::size_t launch = 0; launch < 4; ++launch) {
        const device::TimeSpan& first = spans[2 * launch];
        EXPECT_GE(first.begin, end) << launch;
        EXPECT_GT(first.end, first.begin) << launch;
        end = first.end;
        if (launch == 1 || launch == 2) {
            EXPECT_EQ(spans[2 * launch + 1].end, 0) << "the second device has one thread";
        }
    }
}

/// A device that is lost in its first run.
class LostBackend final : public device::Backend {
public:
    std::unique_ptr<device::Memory> reserve(std::size_t, device::MemoryUse) override { return nullptr; }
    std::size_t page_bytes() const noexcept override { return 1; }
    std::optional<std::int64_t> free_memory() const override { return {}; }
    std::vector<std::shared_ptr<const void>> compile(std::span<const device::DeviceCode* const>,
                                                     const device::CompileRequest&) override {
        return {};
    }
    std::unique_ptr<device::CommandBuffer> record(std::span<const device::KernelLaunch> launches,
                                                  std::span<const std::int64_t> symbols) override {
        seen_symbols = symbols;
        class Commands final : public device::CommandBuffer {
        public:
            explicit Commands(std::span<const device::KernelLaunch> launches) : CommandBuffer(launches) {}
            void update() override {}
            int threads() const noexcept override { return 1; }
            void run(device::Submission& submission) override {
                submission.reached = 0;
                submission.thrown = std::make_exception_ptr(5);
            }
        };
        return std::make_unique<Commands>(launches);
    }
    double time(const device::TimedCalls&, std::optional<device::Failure>&) override { return 0; }
    int threads() const noexcept override { return 1; }
    FeatureSet features() const override { return {}; }
    device::CacheSizes caches() const override { return {}; }
    std::string fingerprint(const FeatureSet&) const override { return {}; }

    std::span<const std::int64_t> seen_symbols;
};

TEST_F(CommandListTest, ALostDeviceEndsTheRunInALaunchThatIsUnknown) {
    LostBackend lost;
    record("ccc");
    backends[1] = &lost;
    const std::vector<std::int64_t> symbols = {3, 4};
    commands = std::make_unique<CommandList>(launches, backends, symbols);
    EXPECT_EQ(lost.seen_symbols.data(), symbols.data());
    EXPECT_EQ(lost.seen_symbols.size(), 2U);
    device::Submission submission;
    commands->run(submission);
    EXPECT_NE(submission.thrown, nullptr);
    EXPECT_EQ(submission.failed, -1);
    EXPECT_EQ(submission.begun(), 2);
    EXPECT_EQ(ran, (std::vector{0}));
}

}  // namespace
}  // namespace cairn::runtime
