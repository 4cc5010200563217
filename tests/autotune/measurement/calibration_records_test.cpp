#include "autotune/measurement/calibration_records.hpp"

#include "autotune/measurement/peak_throughput.hpp"
#include "device/context_impl.hpp"
#include "tests/autotune/database/calibrations.hpp"
#include "tests/autotune/measurement/calibrated_device.hpp"

#include <gtest/gtest.h>

namespace cairn::autotune {
namespace {

const TimingEnvironment own_environment{"here", ""};
Calibration machine() { return test::calibration(); }

TEST(CalibrationRecords, AreFoundOnlyInTheirEnvironment) {
    TimingDb timings{""};
    EXPECT_FALSE(stored_calibration(timings, own_environment, {}));
    record_calibration(timings, own_environment, {}, {machine(), true});
    const auto known = stored_calibration(timings, own_environment, {});
    ASSERT_TRUE(known);
    EXPECT_TRUE(known->is_thorough);
    const Calibration* const found = &known->machine;
    for (const UnitInfo& unit : unit_table)
        EXPECT_DOUBLE_EQ(found->unit_flops[index_of(unit.unit)], machine().unit_flops[index_of(unit.unit)])
            << unit.name;
    EXPECT_DOUBLE_EQ(timings.find("machine |", "machine.i8_avx512_vnni@1", own_environment, {})->median, 1 / 3e10);
    EXPECT_FALSE(timings.find("machine |", "machine.bf16_avx512@1", own_environment, {})) << "what it lacks has no row";
    EXPECT_DOUBLE_EQ(found->flops, 8e9);
    EXPECT_DOUBLE_EQ(found->bandwidth, 2e10);
    EXPECT_DOUBLE_EQ(found->bandwidth_bytes, 2.5e8);
    EXPECT_DOUBLE_EQ(found->cache_bandwidth, 1e11);
    EXPECT_DOUBLE_EQ(found->cache_bytes, 3e7);
    EXPECT_DOUBLE_EQ(found->timer_seconds, 2e-8);
    EXPECT_DOUBLE_EQ(found->barrier_seconds, 1e-6);
    EXPECT_DOUBLE_EQ(found->cross_core_transfer_seconds, 2e-6);
    EXPECT_DOUBLE_EQ(found->cross_core_transfer_byte_seconds, 4e-11);
    EXPECT_DOUBLE_EQ(found->noise, 0.01);
    EXPECT_FALSE(stored_calibration(timings, {"there", ""}, {}));
    EXPECT_FALSE(stored_calibration(timings, own_environment, {.threads = 2}));
}

TEST(CalibrationRecords, TimesOfZeroAreFound) {
    Calibration alone = machine();
    alone.barrier_seconds = alone.cross_core_transfer_seconds = alone.cross_core_transfer_byte_seconds = 0;
    TimingDb timings{""};
    record_calibration(timings, own_environment, {}, {alone, true});
    const auto known = stored_calibration(timings, own_environment, {});
    ASSERT_TRUE(known);
    EXPECT_EQ(known->machine.barrier_seconds, 0);
    EXPECT_EQ(known->machine.cross_core_transfer_seconds, 0);
    EXPECT_EQ(known->machine.cross_core_transfer_byte_seconds, 0);
}

TEST(CalibrationRecords, ARateOfAnUnknownWorkingSetIsRecordedAsCoarse) {
    Calibration unknown = machine();
    unknown.bandwidth_bytes = 0;
    TimingDb timings{""};
    record_calibration(timings, own_environment, {}, {unknown, true});
    const auto known = stored_calibration(timings, own_environment, {});
    ASSERT_TRUE(known);
    EXPECT_FALSE(known->is_thorough);
    EXPECT_EQ(known->machine.bandwidth_bytes, 0);
}

TEST(CalibrationRecords, InvalidRatesAreNotFound) {
    for (double Calibration::*const figure : {&Calibration::bandwidth, &Calibration::cache_bandwidth}) {
        TimingDb timings{""};
        Calibration impossible = machine();
        impossible.*figure = 0;
        record_calibration(timings, own_environment, {}, {impossible, true});
        EXPECT_FALSE(stored_calibration(timings, own_environment, {}));
    }
    TimingDb timings{""};
    Calibration without_f32 = machine();
    for (const Unit unit : {Unit::f32_baseline, Unit::f32_avx2, Unit::f32_avx512})
        without_f32.unit_flops[index_of(unit)] = 0;
    record_calibration(timings, own_environment, {}, {without_f32, true});
    EXPECT_FALSE(stored_calibration(timings, own_environment, {}));
}

TEST(CalibrationRecords, AThoroughCalibrationReplacesABriefOne) {
    TimingDb timings{""};
    record_calibration(timings, own_environment, {}, {machine(), true});
    Calibration other = machine();
    other.bandwidth = 4e10;
    record_calibration(timings, own_environment, {}, {other, false});
    EXPECT_DOUBLE_EQ(stored_calibration(timings, own_environment, {})->machine.bandwidth, 2e10)
        << "whichever came later";
    TimingDb brief_first{""};
    record_calibration(brief_first, own_environment, {}, {other, false});
    ASSERT_TRUE(stored_calibration(brief_first, own_environment, {}));
    EXPECT_FALSE(stored_calibration(brief_first, own_environment, {})->is_thorough);
    record_calibration(brief_first, own_environment, {}, {machine(), true});
    EXPECT_TRUE(stored_calibration(brief_first, own_environment, {})->is_thorough);
    EXPECT_DOUBLE_EQ(stored_calibration(brief_first, own_environment, {})->machine.bandwidth, 2e10);
}

const DeviceRecords records{{"H100, driver 1", ""}, {"H100, driver 1, here", ""}, {.threads = 1}};

TEST(DeviceCalibrationRecords, AreFoundOnlyInTheirEnvironments) {
    TimingDb timings{""};
    EXPECT_FALSE(stored_calibration(timings, records));
    const device::DeviceCalibration made = test::device_calibration();
    record_calibration(timings, records, made);
    const auto found = stored_calibration(timings, records);
    ASSERT_TRUE(found);
    for (std::size_t i = 0; i < arithmetic_count; ++i) EXPECT_DOUBLE_EQ(found->flops[i], made.flops[i]);
    EXPECT_DOUBLE_EQ(found->bandwidth, made.bandwidth);
    EXPECT_DOUBLE_EQ(found->bandwidth_bytes, made.bandwidth_bytes);
    EXPECT_DOUBLE_EQ(found->cache_bandwidth, made.cache_bandwidth);
    EXPECT_DOUBLE_EQ(found->launch_seconds, made.launch_seconds);
    EXPECT_DOUBLE_EQ(found->upload_bandwidth, made.upload_bandwidth);
    EXPECT_DOUBLE_EQ(found->download_bandwidth, made.download_bandwidth);
    EXPECT_DOUBLE_EQ(found->link_seconds, made.link_seconds);
    EXPECT_DOUBLE_EQ(found->noise, made.noise);
    EXPECT_TRUE(found->is_thorough);
    for (const DeviceRecords& other : {DeviceRecords{{"H100, driver 2", ""}, records.link, records.policy},
                                       DeviceRecords{records.device, {"H100, driver 1, there", ""}, records.policy},
                                       DeviceRecords{records.device, records.link, {.threads = 2}}})
        EXPECT_FALSE(stored_calibration(timings, other));
    EXPECT_FALSE(stored_calibration(timings, records.device, records.policy)) << "it is no CPU";
    EXPECT_EQ(timings.size(), 0U) << "they are no times";
}

TEST(DeviceCalibrationRecords, AThoroughOneReplacesABriefOne) {
    TimingDb timings{""};
    device::DeviceCalibration made = test::device_calibration();
    made.is_thorough = false;
    record_calibration(timings, records, made);
    EXPECT_FALSE(stored_calibration(timings, records)->is_thorough);
    made = test::device_calibration();
    made.bandwidth = 2e12;
    record_calibration(timings, records, made);
    EXPECT_TRUE(stored_calibration(timings, records)->is_thorough);
    made.bandwidth = 1e12;
    made.is_thorough = false;
    record_calibration(timings, records, made);
    EXPECT_DOUBLE_EQ(stored_calibration(timings, records)->bandwidth, 2e12) << "whichever came later";
}

TEST(DeviceCalibrationRecords, InvalidOnesAreNotFound) {
    using Figure = double device::DeviceCalibration::*;
    for (const Figure figure :
         {&device::DeviceCalibration::bandwidth, &device::DeviceCalibration::cache_bandwidth,
          &device::DeviceCalibration::upload_bandwidth, &device::DeviceCalibration::download_bandwidth}) {
        TimingDb timings{""};
        device::DeviceCalibration made = test::device_calibration();
        made.*figure = 0;
        record_calibration(timings, records, made);
        EXPECT_FALSE(stored_calibration(timings, records));
    }
    TimingDb timings{""};
    device::DeviceCalibration made = test::device_calibration();
    made.flops = {};
    record_calibration(timings, records, made);
    EXPECT_FALSE(stored_calibration(timings, records)) << "without f32";
    made = test::device_calibration();
    made.launch_seconds = made.link_seconds = 0;
    record_calibration(timings, records, made);
    ASSERT_TRUE(stored_calibration(timings, records));
    EXPECT_EQ(stored_calibration(timings, records)->launch_seconds, 0);
}

TEST(CalibrationRecords, AreMeasuredOnceAndFound) {
    const Context context;
    const auto rows = [&] { return context.impl()->timings->unwritten(); };
    EXPECT_FALSE(calibration_of(context, own_environment, {}, 0));
    std::size_t figures = 8;
    for (const UnitInfo& unit : unit_table)
        figures += context.features().includes(unit.needs) && operations_per_iteration(unit.unit) > 0 ? 1 : 0;
    ASSERT_TRUE(calibration_of(context, own_environment, {}, 0.05)) << "briefly";
    EXPECT_EQ(rows(), figures + 1) << "and a session";
    ASSERT_TRUE(calibration_of(context, own_environment, {}, 0.05));
    EXPECT_EQ(rows(), figures + 1) << "once";
    const auto measured = calibration_of(context, own_environment, {}, 10);
    ASSERT_TRUE(measured);
    EXPECT_EQ(rows(), 2 * figures + 1) << "again, thoroughly";
    for (const double seconds : {10.0, 0.05, 0.0}) {
        const auto again = calibration_of(context, own_environment, {}, seconds);
        ASSERT_TRUE(again);
        EXPECT_EQ(again->bandwidth, measured->bandwidth) << "to the bit, so that choices are the same";
        EXPECT_EQ(again->unit_flops, measured->unit_flops);
    }
    EXPECT_EQ(rows(), 2 * figures + 1);
    EXPECT_EQ(context.impl()->timings->size(), 0U) << "they are no times";
}

}  // namespace
}  // namespace cairn::autotune
