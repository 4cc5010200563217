#include "cairn/tuning.hpp"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(Calibrate, MeasuresAMachine) {
    const Calibration machine = calibrate(Context({.threads = 2}));
    EXPECT_GT(machine.flops, 1e8);
    EXPECT_GT(machine.bandwidth, 1e8);
    EXPECT_GT(machine.barrier_seconds, 0);
    EXPECT_GT(machine.timer_seconds, 0);
    EXPECT_EQ(calibrate(Context()).barrier_seconds, 0);
}

TEST(Calibrate, EveryLevelHasAPeak) {
    for (const Isa level : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512_vnni_bf16}) {
        const Context context({.max_isa = level});
        EXPECT_GT(calibrate(context).flops, 1e8) << to_string(context.isa());
    }
}

}  // namespace
}  // namespace cairn
