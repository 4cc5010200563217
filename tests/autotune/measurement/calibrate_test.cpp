#include "autotune/measurement/benchmark.hpp"
#include "autotune/measurement/peak_throughput.hpp"
#include "cairn/tuning.hpp"
#include "device/context_impl.hpp"
#include "device/cpu/cpu_features.hpp"
#include "graph/types/unit_table.hpp"
#include "tests/autotune/measurement/calibrated_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace cairn {
namespace {

TEST(Calibrate, MeasuresAMachine) {
    const Calibration machine = calibrate(Context({.threads = 2}));
    EXPECT_GT(machine.flops, 1e8);
    EXPECT_GT(machine.bandwidth, 1e8);
    EXPECT_GE(machine.bandwidth_bytes, 32 << 20);
    EXPECT_LE(machine.bandwidth_bytes, 1 << 30);
    EXPECT_GT(machine.barrier_seconds, 0);
    EXPECT_GT(machine.timer_seconds, 0);
    EXPECT_GE(machine.cross_core_transfer_seconds, 0);
    EXPECT_LT(machine.cross_core_transfer_seconds, 1e-2);
    EXPECT_GE(machine.cross_core_transfer_byte_seconds, 0);
    EXPECT_LT(machine.cross_core_transfer_byte_seconds, 1e-7);
    const Calibration alone = calibrate(Context());
    EXPECT_EQ(alone.barrier_seconds, 0);
    EXPECT_EQ(alone.cross_core_transfer_seconds, 0);
    EXPECT_EQ(alone.cross_core_transfer_byte_seconds, 0);
}

std::vector<FeatureSet> sets_of_this_machine() {
    const FeatureSet available = device::detect_features();
    return {levels::baseline, levels::avx2 & available, levels::avx512 & available, available};
}

TEST(Calibrate, MeasuresOnlyTheUnitsOfTheFeaturesInUse) {
    for (const FeatureSet features : sets_of_this_machine()) {
        const Calibration machine = calibrate(Context({.features = features}));
        for (const UnitInfo& row : unit_table) {
            const bool is_measured = features.includes(row.needs) && autotune::operations_per_iteration(row.unit) > 0;
            if (is_measured)
                EXPECT_GT(machine.unit_flops[index_of(row.unit)], 1e8) << row.name << " of " << features;
            else
                EXPECT_EQ(machine.unit_flops[index_of(row.unit)], 0) << row.name << " of " << features;
        }
        EXPECT_EQ(machine.flops, machine.unit_flops[index_of(*unit_of(Arithmetic::f32, features))]) << features;
    }
}

TEST(Calibrate, MoreFeaturesHaveNoLowerPeak) {
    const Calibration machine = calibrate(Context());
    const FeatureSet available = device::detect_features();
    for (const UnitInfo& high : unit_table)
        for (const UnitInfo& low : unit_table)
            if (high.arithmetic == low.arithmetic && available.includes(high.needs) && high.needs.includes(low.needs) &&
                autotune::operations_per_iteration(high.unit) > 0) {
                EXPECT_GE(machine.unit_flops[index_of(high.unit)], machine.unit_flops[index_of(low.unit)])
                    << high.name << ", " << low.name;
            }
}

TEST(Calibrate, DoesNotDependOnCustomKernels) {
    ContextOptions options;
    options.reference_only = true;
    EXPECT_GT(calibrate(Context(options)).flops, 1e8);
}

TEST(Calibrate, LaterMeasurementsStreamTwiceTheCacheSize) {
    const Context context;
    const Calibration machine = calibrate(context);
    EXPECT_GT(machine.cache_bytes, 0);
    EXPECT_GE(machine.noise, 0);
    const std::size_t rotation = autotune::operand_memory_of(*context.impl())->rotation;
    EXPECT_LE(rotation, autotune::rotation_bytes_of(machine.cache_bytes, std::nullopt));
    EXPECT_GE(rotation, autotune::rotation_bytes_of(machine.cache_bytes, 0)) << "little may be free";
}

TEST(Calibrate, UsesLessMemoryOnANearlyFullMachine) {
    constexpr std::int64_t mb = 1 << 20;
    EXPECT_EQ(autotune::rotation_bytes_of(100.0 * mb, std::nullopt), 200U * mb);
    EXPECT_EQ(autotune::rotation_bytes_of(100.0 * mb, 64'000 * mb), 200U * mb);
    EXPECT_EQ(autotune::rotation_bytes_of(1000.0 * mb, 64'000 * mb), 256U * mb);
    EXPECT_EQ(autotune::rotation_bytes_of(1.0 * mb, 64'000 * mb), 32U * mb);
    EXPECT_EQ(autotune::rotation_bytes_of(100.0 * mb, 400 * mb), 50U * mb);
    EXPECT_EQ(autotune::rotation_bytes_of(100.0 * mb, 20 * mb), 8U * mb) << "it measures all the same";
    EXPECT_EQ(autotune::rotation_bytes_of(100.0 * mb, 0), 8U * mb);
}

TEST(Calibrate, OperandsOnADeviceRotateThroughTwiceItsCache) {
    constexpr std::int64_t mb = 1 << 20, gb = 1 << 30;
    EXPECT_EQ(autotune::device_rotation_bytes(50 * mb, 79 * gb), 100U * mb) << "an H100";
    EXPECT_EQ(autotune::device_rotation_bytes(60 * mb, 139 * gb), 120U * mb) << "an H200";
    EXPECT_EQ(autotune::device_rotation_bytes(192 * mb, 180 * gb), 384U * mb) << "more than for a CPU";
    EXPECT_EQ(autotune::device_rotation_bytes(4 * mb, 16 * gb), 32U * mb);
    EXPECT_EQ(autotune::device_rotation_bytes(50 * mb, std::nullopt), 100U * mb);
    EXPECT_EQ(autotune::device_rotation_bytes(50 * mb, 400 * mb), 100U * mb);
    EXPECT_EQ(autotune::device_rotation_bytes(50 * mb, 200 * mb), 50U * mb) << "a quarter of what is free";
    EXPECT_EQ(autotune::device_rotation_bytes(50 * mb, 0), 8U * mb);
    const Context context = test::with_calibrated_devices({test::nominal_rates("H100")}, {});
    EXPECT_EQ(autotune::operand_memory_of(*context.impl(), Device::cuda())->rotation, 100U * mb);
}

}  // namespace
}  // namespace cairn
