#include "timing/peak.hpp"

#include "device/cpu/cpu_features.hpp"
#include "timing/team_clock.hpp"
#include "types/unit_rows.hpp"

#include <gtest/gtest.h>

namespace cairn::timing {
namespace {

TEST(Peak, ARoundHasTwelveChainsOfFullRegisters) {
    EXPECT_EQ(operations_of_round(Unit::f32_baseline), 2 * 12 * 4);
    EXPECT_EQ(operations_of_round(Unit::f32_avx2), 2 * 12 * 8);
    EXPECT_EQ(operations_of_round(Unit::f32_avx512), 2 * 12 * 16);
    EXPECT_EQ(operations_of_round(Unit::i16_avx2), 2 * 12 * 16);
    EXPECT_EQ(operations_of_round(Unit::bf16_avx512), 2 * 12 * 32);
    EXPECT_EQ(operations_of_round(Unit::i8_avx512_vnni), 2 * 12 * 64);
    EXPECT_EQ(operations_of_round(Unit::i8_amx), 0) << "the operating system would have to be asked";
}

TEST(Peak, EveryUnitOfThisMachineRuns) {
    int units = 0;
    for (const UnitRow& row : unit_rows) {
        if (!device::detect_features().includes(row.needs) || operations_of_round(row.unit) == 0) continue;
        ++units;
        keep_busy(row.unit, 0);
        keep_busy(row.unit, -1);
        const Clock::time_point start = Clock::now();
        keep_busy(row.unit, 1 << 20);
        // Twelve chains of at least one addition each cannot go faster than two a cycle at 10 GHz.
        EXPECT_GT(seconds_since(start), 12.0 * (1 << 20) / 2 / 10e9) << row.name;
    }
    EXPECT_GE(units, 1);
}

}  // namespace
}  // namespace cairn::timing
