#pragma once

#include "cairn/timing_db.hpp"

namespace cairn::test {

/// A timing of one sample that took `seconds`.
inline Timing took(double seconds) {
    Timing timing;
    timing.samples = 1;
    timing.min = timing.p10 = timing.median = timing.p90 = seconds;
    return timing;
}

}  // namespace cairn::test
