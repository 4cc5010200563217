#pragma once

#include "cairn/units.hpp"

#include <cstdint>

namespace cairn::autotune {

/// Operations of one round of run_peak_loop(); a multiplication and an addition count two. 0 of a unit that is not
/// measured: tiles, since the operating system would have to be asked for them first.
double operations_per_iteration(Unit unit) noexcept;

/// Nothing but independent sums of products on full registers, the same in every kind of build: the most that a unit
/// can do. The CPU must have it.
void run_peak_loop(Unit unit, std::int64_t rounds) noexcept;

}  // namespace cairn::autotune
