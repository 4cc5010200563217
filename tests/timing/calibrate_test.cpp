#include "cairn/tuning.hpp"
#include "device/context_parts.hpp"
#include "timing/contest.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn {
namespace {

TEST(Calibrate, MeasuresAMachine) {
    const Calibration machine = calibrate(Context({.threads = 2}));
    EXPECT_GT(machine.flops, 1e8);
    EXPECT_GT(machine.bandwidth, 1e8);
    EXPECT_GT(machine.barrier_seconds, 0);
    EXPECT_GT(machine.timer_seconds, 0);
    EXPECT_GE(machine.handover_seconds, 0);
    EXPECT_LT(machine.handover_seconds, 1e-2);
    const Calibration alone = calibrate(Context());
    EXPECT_EQ(alone.barrier_seconds, 0);
    EXPECT_EQ(alone.handover_seconds, 0);
}

TEST(Calibrate, EveryLevelHasAPeakNoLowerThanThoseBelow) {
    for (const Isa level : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512_vnni_bf16}) {
        const Context context({.max_isa = level});
        const Calibration machine = calibrate(context);
        const auto top = static_cast<std::size_t>(context.isa());
        EXPECT_GT(machine.level_flops[0], 1e8);
        for (std::size_t below = 1; below <= top; ++below)
            EXPECT_GE(machine.level_flops[below], machine.level_flops[below - 1]);
        for (std::size_t above = top + 1; above < 4; ++above) EXPECT_EQ(machine.level_flops[above], 0);
        EXPECT_EQ(machine.flops, machine.level_flops[top]);
    }
}

TEST(Calibrate, ItsKernelsDoNotMatter) {
    ContextOptions options;
    options.reference_only = true;
    EXPECT_GT(calibrate(Context(options)).flops, 1e8);
}

TEST(Calibrate, WhatIsMeasuredAfterwardsReadsTwiceWhatCachesHold) {
    const Context context;
    const Calibration machine = calibrate(context);
    EXPECT_GT(machine.cache_bytes, 0);
    EXPECT_GE(machine.noise, 0);
    const std::size_t rotation = timing::memory_of(*context.parts())->rotation;
    EXPECT_LE(rotation, timing::rotation_of(machine.cache_bytes, std::nullopt));
    EXPECT_GE(rotation, timing::rotation_of(machine.cache_bytes, 0)) << "little may be free";
}

TEST(Calibrate, ANearlyFullMachineMeasuresInLessMemory) {
    constexpr std::int64_t mb = 1 << 20;
    EXPECT_EQ(timing::rotation_of(100.0 * mb, std::nullopt), 200U * mb);
    EXPECT_EQ(timing::rotation_of(100.0 * mb, 64'000 * mb), 200U * mb);
    EXPECT_EQ(timing::rotation_of(1000.0 * mb, 64'000 * mb), 256U * mb);
    EXPECT_EQ(timing::rotation_of(1.0 * mb, 64'000 * mb), 32U * mb);
    EXPECT_EQ(timing::rotation_of(100.0 * mb, 400 * mb), 50U * mb);
    EXPECT_EQ(timing::rotation_of(100.0 * mb, 20 * mb), 8U * mb) << "it measures all the same";
    EXPECT_EQ(timing::rotation_of(100.0 * mb, 0), 8U * mb);
}

}  // namespace
}  // namespace cairn
