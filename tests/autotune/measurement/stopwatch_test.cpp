#include "autotune/measurement/stopwatch.hpp"

#include "device/cpu/cpu_backend.hpp"
#include "tests/autotune/database/problem.hpp"
#include "tests/errors/message.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

namespace cairn::autotune {
namespace {

std::atomic<int> runs;
std::mutex seen_mutex;
std::set<const std::byte*> seen;

void slow(const Args& args, Team& team) {
    if (team.rank() == 0) {
        ++runs;
        const std::scoped_lock lock(seen_mutex);
        seen.insert(args.inputs[0].data);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Stopwatch, TimesAllCallsOfAllMembersAndRotatesOperands) {
    Kernel kernel;
    kernel.id = "my.exp@1";
    kernel.run = slow;
    const auto cpu = device::cpu_backend(1);
    const auto memory = std::make_shared<OperandMemory>(*cpu, 1 << 16, 4096);
    for (const int threads : {1, 2}) {
        const auto backend = device::cpu_backend(threads);
        const Operands operands(test::problem("exp | f32[16]! -> f32[16]"), kernel, {}, threads, memory, true);
        Stopwatch watch(kernel, operands, *backend);
        runs = 0;
        seen.clear();
        EXPECT_GE(watch.time(3), 0.003);
        EXPECT_GE(watch.time(2), 0.002);
        EXPECT_EQ(runs, 5);
        EXPECT_EQ(seen.size(), 5U) << "no weight twice";
    }
}

TEST(Stopwatch, TimesAgainAfterAFailure) {
    Kernel kernel;
    kernel.id = "my.exp@1";
    kernel.run = [](const Args&, Team& team) {
        if (++runs == 2) team.fail("no");
    };
    runs = 0;
    const auto backend = device::cpu_backend(1);
    const Operands operands(test::problem("exp | f32[16] -> f32[16]"), kernel, {}, 1,
                            std::make_shared<OperandMemory>(*backend, 0, 4096), true);
    Stopwatch watch(kernel, operands, *backend);
    EXPECT_EQ(test::message([&] { watch.time(3); }), "[measure] my.exp@1: no");
    EXPECT_GT(watch.time(1), 0);
}

}  // namespace
}  // namespace cairn::autotune
