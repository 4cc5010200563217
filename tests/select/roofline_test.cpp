#include "select/roofline.hpp"

#include "tests/timing/problem.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cairn::select {
namespace {

Calibration even_machine() {
    Calibration machine;
    machine.flops = 4e9;
    machine.level_flops = {1e9, 4e9, 0, 0};
    machine.bandwidth = 1e9;
    machine.cache_bandwidth = 1e10;
    machine.barrier_seconds = 1e-6;
    machine.handover_seconds = 2e-6;
    return machine;
}

Kernel multiply(Isa isa, const char* id = "test.k@1") {
    Kernel made;
    made.id = id;
    made.isa = isa;
    return made;
}

TEST(Roofline, ArithmeticIsAtThePeakOfTheLevelAskedFor) {
    const Calibration machine = even_machine();
    const Limits limits{machine, Isa::avx2};
    const Cost work{4e6, 0, 0.5};
    const auto at = [&](Isa level) { return roofline_of(multiply(Isa::avx2), level, {}, work, limits); };
    EXPECT_DOUBLE_EQ(at(Isa::avx2).arithmetic, 1e-3);
    EXPECT_DOUBLE_EQ(at(Isa::avx2).work, 2e-3);
    EXPECT_DOUBLE_EQ(at(Isa::baseline).arithmetic, 4e-3);
    EXPECT_DOUBLE_EQ(at(Isa::avx512).arithmetic, 1e-3) << "a higher level has no more than is in use";
    EXPECT_DOUBLE_EQ(at(Isa::avx2).seconds(), 2e-3 + 3e-8 + 1e-6);
}

TEST(Roofline, WeightsComeFromMemoryAndTheRestFromACache) {
    const Calibration machine = even_machine();
    const Problem problem = test::problem("matmul | f32[1,100] f32[100,50]! -> f32[1,50]");
    const Cost work{1, 20600, 1};
    const Roofline roofline = roofline_of(multiply(Isa::avx2), Isa::avx2, problem, work, {machine, Isa::avx2});
    EXPECT_DOUBLE_EQ(roofline.work, 20000 / 1e9 + 600 / 1e10);
}

TEST(Roofline, AMachineIsTakenToALevelThatItWasNotMeasuredAt) {
    const Calibration up = at_level(even_machine(), Isa::avx2, Isa::avx512_vnni_bf16);
    EXPECT_DOUBLE_EQ(up.flops, 8e9);
    EXPECT_DOUBLE_EQ(up.level_flops[2], 8e9);
    EXPECT_DOUBLE_EQ(up.level_flops[1], 4e9) << "what was measured stays";
    const Calibration down = at_level(even_machine(), Isa::avx2, Isa::baseline);
    EXPECT_DOUBLE_EQ(down.flops, 1e9);
}

TEST(Roofline, ASlowedMachineTakesAsMuchLongerForEverything) {
    const Calibration machine = even_machine(), slow = slowed(machine, 3);
    for (const Cost& work : {Cost{4e6, 0, 1}, Cost{0, 1e6, 1}}) {
        const Roofline fast = roofline_of(multiply(Isa::avx2), Isa::avx2, {}, work, {machine, Isa::avx2});
        const Roofline late = roofline_of(multiply(Isa::avx2), Isa::avx2, {}, work, {slow, Isa::avx2});
        EXPECT_DOUBLE_EQ(late.work, 3 * fast.work);
    }
    EXPECT_DOUBLE_EQ(slow.barrier_seconds, 3e-6);
    EXPECT_DOUBLE_EQ(slow.handover_seconds, 3 * machine.handover_seconds);
    EXPECT_DOUBLE_EQ(slow.level_flops[0], 1e9 / 3);
}

TEST(Roofline, WhatIsNoCostIsCountedByItsOperands) {
    Kernel wrong = multiply(Isa::baseline);
    wrong.cost = [](const Problem&) { return Cost{std::numeric_limits<double>::quiet_NaN(), 1, 1}; };
    std::string note;
    const Cost cost = counted_cost(wrong, test::problem("exp | f32[10] -> f32[10]"), note);
    EXPECT_DOUBLE_EQ(cost.bytes, 80);
    EXPECT_NE(note.find("its cost is no cost (nan operations"), note.npos);
}

}  // namespace
}  // namespace cairn::select
