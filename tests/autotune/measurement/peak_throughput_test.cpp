#include "autotune/measurement/peak_throughput.hpp"

#include "autotune/measurement/clock.hpp"
#include "device/cpu/cpu_features.hpp"
#include "graph/types/unit_table.hpp"

#include <gtest/gtest.h>

namespace cairn::autotune {
namespace {

TEST(PeakThroughput, AnIterationHasTwelveChainsOfFullRegisters) {
    EXPECT_EQ(operations_per_iteration(Unit::f32_baseline), 2 * 12 * 4);
    EXPECT_EQ(operations_per_iteration(Unit::f32_avx2), 2 * 12 * 8);
    EXPECT_EQ(operations_per_iteration(Unit::f32_avx512), 2 * 12 * 16);
    EXPECT_EQ(operations_per_iteration(Unit::i16_avx2), 2 * 12 * 16);
    EXPECT_EQ(operations_per_iteration(Unit::bf16_avx512), 2 * 12 * 32);
    EXPECT_EQ(operations_per_iteration(Unit::i8_avx512_vnni), 2 * 12 * 64);
    EXPECT_EQ(operations_per_iteration(Unit::i8_amx), 0) << "the operating system would have to be asked";
}

TEST(PeakThroughput, EveryUnitOfThisMachineRuns) {
    int units = 0;
    for (const UnitInfo& row : unit_table) {
        if (!device::detect_features().includes(row.needs) || operations_per_iteration(row.unit) == 0) continue;
        ++units;
        run_peak_loop(row.unit, 0);
        run_peak_loop(row.unit, -1);
        const Clock::time_point start = Clock::now();
        run_peak_loop(row.unit, 1 << 20);
        // Twelve chains of at least one addition each cannot exceed two additions per cycle at 10 GHz.
        EXPECT_GT(seconds_since(start), 12.0 * (1 << 20) / 2 / 10e9) << row.name;
    }
    EXPECT_GE(units, 1);
}

}  // namespace
}  // namespace cairn::autotune
