#pragma once

#include "cairn/tuning.hpp"
#include "graph/types/unit_table.hpp"

/// A plausible calibration of a machine.
namespace cairn::test {

inline Calibration calibration() {
    Calibration made;
    made.unit_flops[index_of(Unit::f32_baseline)] = 1e9;
    made.unit_flops[index_of(Unit::f32_avx2)] = 4e9;
    made.unit_flops[index_of(Unit::f32_avx512)] = 8e9;
    made.unit_flops[index_of(Unit::i8_avx512_vnni)] = 3e10;
    made.flops = 8e9;
    made.bandwidth = 2e10;
    made.bandwidth_bytes = 2.5e8;
    made.cache_bandwidth = 1e11;
    made.cache_bytes = 3e7;
    made.timer_seconds = 2e-8;
    made.barrier_seconds = 1e-6;
    made.noise = 0.01;
    made.cross_core_transfer_seconds = 2e-6;
    made.cross_core_transfer_byte_seconds = 4e-11;
    return made;
}

}  // namespace cairn::test
