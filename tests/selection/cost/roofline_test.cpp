#include "selection/cost/roofline.hpp"

#include "graph/types/unit_table.hpp"
#include "tests/autotune/database/problem.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cairn::selection {
namespace {

Calibration even_machine() {
    Calibration machine;
    machine.flops = 4e9;
    machine.unit_flops[index_of(Unit::f32_baseline)] = 1e9;
    machine.unit_flops[index_of(Unit::f32_avx2)] = 4e9;
    machine.bandwidth = 1e9;
    machine.cache_bandwidth = 1e10;
    machine.barrier_seconds = 1e-6;
    machine.cross_core_transfer_seconds = 2e-6;
    machine.cross_core_transfer_byte_seconds = 5e-11;
    return machine;
}

Kernel multiply(FeatureSet needs, const char* id = "test.k@1") {
    Kernel made;
    made.id = id;
    made.needs = needs;
    return made;
}

TEST(Roofline, ArithmeticUsesThePeakOfTheRequestedLevel) {
    const Calibration machine = even_machine();
    const Limits limits{machine, levels::avx2};
    const Cost work{4e6, 0, 0.5};
    const auto at = [&](FeatureSet needs) { return roofline_of(multiply(levels::avx2), needs, {}, work, limits); };
    EXPECT_DOUBLE_EQ(at(levels::avx2).arithmetic, 1e-3);
    EXPECT_DOUBLE_EQ(at(levels::avx2).work, 2e-3);
    EXPECT_DOUBLE_EQ(at(levels::baseline).arithmetic, 4e-3);
    EXPECT_DOUBLE_EQ(at(levels::avx512).arithmetic, 1e-3) << "a higher level has no more than is in use";
    EXPECT_DOUBLE_EQ(at(levels::avx2).seconds(), 2e-3 + 3e-8 + 1e-6);
}

TEST(Roofline, WeightsAreReadFromMemoryAndOthersFromACache) {
    const Calibration machine = even_machine();
    const Problem problem = test::problem("matmul | f32[1,100] f32[100,50]! -> f32[1,50]");
    const Cost work{1, 20600, 1};
    const Roofline roofline = roofline_of(multiply(levels::avx2), levels::avx2, problem, work, {machine, levels::avx2});
    EXPECT_DOUBLE_EQ(roofline.work, 20000 / 1e9 + 600 / 1e10);
}

TEST(Roofline, AMachineIsExtrapolatedToAnUnmeasuredLevel) {
    const FeatureSet more = levels::avx512 | FeatureSet{Feature::avx512_vnni};
    const Calibration up = with_features(even_machine(), levels::avx2, more);
    EXPECT_DOUBLE_EQ(up.flops, 8e9);
    EXPECT_DOUBLE_EQ(up.unit_flops[index_of(Unit::f32_avx512)], 8e9);
    EXPECT_DOUBLE_EQ(up.unit_flops[index_of(Unit::f32_avx2)], 4e9) << "what was measured stays";
    EXPECT_DOUBLE_EQ(up.unit_flops[index_of(Unit::i8_avx512_vnni)], 32e9);
    EXPECT_EQ(up.unit_flops[index_of(Unit::bf16_avx512)], 0) << "it is not among the features";
    const Calibration down = with_features(even_machine(), levels::avx2, levels::baseline);
    EXPECT_DOUBLE_EQ(down.flops, 1e9);
    EXPECT_DOUBLE_EQ(with_features(nominal_machine(levels::avx512, 2), levels::avx512, levels::avx2).flops,
                     nominal_machine(levels::avx2, 2).flops);
}

TEST(Roofline, ArithmeticRunsOnTheUnitOfItsKernel) {
    constexpr FeatureSet vnni = levels::avx512 | FeatureSet{Feature::avx512_vnni};
    Calibration machine = even_machine();
    machine.unit_flops[index_of(Unit::f32_avx512)] = machine.flops = 8e9;
    machine.unit_flops[index_of(Unit::i8_avx2)] = 7e9;
    machine.unit_flops[index_of(Unit::i8_avx512_vnni)] = 40e9;
    const Limits limits{machine, vnni};
    const auto at = [&](Arithmetic arithmetic, FeatureSet needs) {
        return roofline_of(multiply(needs), needs, {}, {280e6, 0, 1, arithmetic}, limits).arithmetic;
    };
    EXPECT_DOUBLE_EQ(at(Arithmetic::f32, vnni), 280e6 / 8e9);
    EXPECT_DOUBLE_EQ(at(Arithmetic::i8, vnni), 280e6 / 40e9);
    EXPECT_DOUBLE_EQ(at(Arithmetic::i8, levels::avx2), 280e6 / 7e9) << "a twin of less is as fast as its own unit";
    EXPECT_DOUBLE_EQ(at(Arithmetic::i16, vnni), 280e6 / 16e9) << "by nominal rates, what was not measured";
    const FeatureSet more = vnni | FeatureSet{Feature::amx_tile, Feature::amx_int8};
    EXPECT_DOUBLE_EQ(at(Arithmetic::i8, more), 280e6 / 40e9) << "tiles are not in use";
}

TEST(Roofline, ArithmeticOfADeviceIsAtItsOwnRateWhereItHasOne) {
    const Calibration machine = even_machine();
    DeviceRates rates{Device::cuda(), 1e12, 1e12, 1e-6, 1e10, 1e-6};
    rates.arithmetic_flops[static_cast<std::size_t>(Arithmetic::bf16)] = 8e12;
    const Limits limits{machine, levels::avx2, {&rates, 1}};
    Kernel kernel = multiply(levels::baseline);
    kernel.device = Device::cuda();
    const auto at = [&](Arithmetic arithmetic) {
        return roofline_of(kernel, {}, {}, {1e12, 0, 1, arithmetic}, limits).arithmetic;
    };
    EXPECT_DOUBLE_EQ(at(Arithmetic::f32), 1);
    EXPECT_DOUBLE_EQ(at(Arithmetic::bf16), 1. / 8);
    EXPECT_DOUBLE_EQ(at(Arithmetic::i8), 1);
}

TEST(Roofline, ADeviceReadsWeightsFromMemoryAndTheRestFromItsCache) {
    const Calibration machine = even_machine();
    DeviceRates rates{Device::cuda(), 1e15, 1e12, 0, 1e10, 0};
    Kernel kernel = multiply(levels::baseline);
    kernel.device = Device::cuda();
    const Problem problem = test::problem("matmul | f32[1,1000] f32[1000,500]! -> f32[1,500]");
    const auto memory = [&] {
        return roofline_of(kernel, {}, problem, {0, 3e6}, {machine, levels::avx2, {&rates, 1}}).memory;
    };
    EXPECT_DOUBLE_EQ(memory(), 3e-6);
    rates.cache_bandwidth = 5e12;
    EXPECT_DOUBLE_EQ(memory(), 2e-6 + 0.2e-6);
    kernel.definition = "copy_to";
    EXPECT_DOUBLE_EQ(memory(), 1.5e-4) << "half of the bytes cross the link";
}

TEST(Roofline, StepsOnADeviceAreAddedToTheLongerOfArithmeticAndMemory) {
    const Calibration machine = even_machine();
    DeviceRates rates{Device::cuda(), 1e12, 1e12, 1e-6, 1e10, 1e-5, "a GPU"};
    rates.step_seconds = 5e-7;
    const Limits limits{machine, levels::avx2, {&rates, 1}};
    Kernel kernel = multiply({});
    Cost work{4e6, 1e6, 0.5};
    const auto seconds = [&] { return roofline_of(kernel, {}, {}, work, limits).work; };
    const double on_cpu = seconds();
    kernel.device = Device::cuda();
    const double on_device = seconds();
    work.steps = 6;
    EXPECT_DOUBLE_EQ(seconds(), on_device + 3e-6);
    kernel.device = Device::cpu;
    EXPECT_EQ(seconds(), on_cpu);
}

TEST(Roofline, ANegativeNumberOfStepsIsInvalid) {
    Kernel wrong = multiply(levels::baseline);
    wrong.cost = [](const Problem&) { return Cost{1, 1, 1, Arithmetic::f32, -1}; };
    std::string note;
    validated_cost(wrong, test::problem("exp | f32[10] -> f32[10]"), note);
    EXPECT_NE(note.find("-1 steps"), note.npos) << note;
}

TEST(Roofline, ArithmeticBeyondTheFeaturesOfItsKernelIsInvalid) {
    Kernel wrong = multiply(levels::avx512);
    wrong.cost = [](const Problem&) { return Cost{1, 1, 1, Arithmetic::bf16}; };
    std::string note;
    EXPECT_DOUBLE_EQ(validated_cost(wrong, test::problem("exp | f32[10] -> f32[10]"), note).bytes, 80);
    EXPECT_EQ(note, "default cost: its cost counts bf16, for which its required features have no unit (avx2+avx512)");
    note.clear();
    wrong.needs = levels::avx512 | FeatureSet{Feature::avx512_bf16};
    EXPECT_DOUBLE_EQ(validated_cost(wrong, test::problem("exp | f32[10] -> f32[10]"), note).bytes, 1);
    wrong.device = Device::cuda();
    wrong.needs = {};
    EXPECT_DOUBLE_EQ(validated_cost(wrong, test::problem("exp | f32[10] -> f32[10]"), note).bytes, 1);
    EXPECT_EQ(note, "");
}

TEST(Roofline, ASlowedMachineScalesAllTimes) {
    const Calibration machine = even_machine(), slow = slowed(machine, 3);
    for (const Cost& work : {Cost{4e6, 0, 1}, Cost{0, 1e6, 1}}) {
        const Roofline fast = roofline_of(multiply(levels::avx2), levels::avx2, {}, work, {machine, levels::avx2});
        const Roofline late = roofline_of(multiply(levels::avx2), levels::avx2, {}, work, {slow, levels::avx2});
        EXPECT_DOUBLE_EQ(late.work, 3 * fast.work);
    }
    EXPECT_DOUBLE_EQ(slow.barrier_seconds, 3e-6);
    EXPECT_DOUBLE_EQ(slow.cross_core_transfer_seconds, 3 * machine.cross_core_transfer_seconds);
    EXPECT_DOUBLE_EQ(slow.cross_core_transfer_byte_seconds, 3 * machine.cross_core_transfer_byte_seconds);
    EXPECT_DOUBLE_EQ(slow.unit_flops[index_of(Unit::f32_baseline)], 1e9 / 3);
}

TEST(Roofline, AnInvalidCostIsReplacedByThatOfTheOperands) {
    Kernel wrong = multiply(levels::baseline);
    wrong.cost = [](const Problem&) { return Cost{std::numeric_limits<double>::quiet_NaN(), 1, 1}; };
    std::string note;
    const Cost cost = validated_cost(wrong, test::problem("exp | f32[10] -> f32[10]"), note);
    EXPECT_DOUBLE_EQ(cost.bytes, 80);
    EXPECT_NE(note.find("its cost is invalid (nan operations"), note.npos);
}

}  // namespace
}  // namespace cairn::selection
