#pragma once

#include "cairn/tuning.hpp"

/// A machine that could be.
namespace cairn::test {

inline Calibration calibration() {
    Calibration made;
    made.level_flops = {1e9, 4e9, 8e9, 0};
    made.flops = 8e9;
    made.bandwidth = 2e10;
    made.cache_bandwidth = 1e11;
    made.cache_bytes = 3e7;
    made.timer_seconds = 2e-8;
    made.barrier_seconds = 1e-6;
    made.noise = 0.01;
    made.handover_seconds = 2e-6;
    return made;
}

}  // namespace cairn::test
