#pragma once

#include "cairn/units.hpp"

#include <cstdint>

namespace cairn::autotune {

/// Operations of one round of run_peak_loop(); a multiply-add counts two. 0 for a unit that is not measured: AMX tiles,
/// which a process must first request from the operating system.
double operations_per_iteration(Unit unit) noexcept;

/// Runs independent multiply-adds on full registers, the same in every build type: the peak throughput of a unit. The
/// CPU must have the unit.
void run_peak_loop(Unit unit, std::int64_t rounds) noexcept;

}  // namespace cairn::autotune
