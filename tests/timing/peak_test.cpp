#include "timing/peak.hpp"

#include "device/cpu/isa.hpp"
#include "timing/team_clock.hpp"

#include <gtest/gtest.h>

namespace cairn::timing {
namespace {

TEST(Peak, ARoundHasTwelveChainsOfFullRegisters) {
    EXPECT_EQ(operations_of_round(Isa::baseline), 2 * 12 * 4);
    EXPECT_EQ(operations_of_round(Isa::avx2), 2 * 12 * 8);
    EXPECT_EQ(operations_of_round(Isa::avx512), 2 * 12 * 16);
    EXPECT_EQ(operations_of_round(Isa::avx512_vnni_bf16), 2 * 12 * 16) << "as many f32 numbers as the level below";
}

TEST(Peak, EveryLevelOfThisMachineRuns) {
    for (int level = 0; level <= static_cast<int>(device::detect_isa()); ++level) {
        multiply_add(static_cast<Isa>(level), 0);
        multiply_add(static_cast<Isa>(level), -1);
        const Clock::time_point start = Clock::now();
        multiply_add(static_cast<Isa>(level), 1 << 20);
        // Twelve chains of at least one addition each cannot go faster than two a cycle at 10 GHz.
        EXPECT_GT(seconds_since(start), 12.0 * (1 << 20) / 2 / 10e9) << level;
    }
}

}  // namespace
}  // namespace cairn::timing
