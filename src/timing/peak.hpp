#pragma once

#include "cairn/units.hpp"

#include <cstdint>

namespace cairn::inline v0::timing {

/// Operations of one round of keep_busy(); a multiplication and an addition count two. 0 of a unit that is not
/// measured: tiles, since the operating system would have to be asked for them first.
double operations_of_round(Unit unit) noexcept;

/// Nothing but independent sums of products on full registers, the same in every kind of build: the most that a unit
/// can do. The CPU must have it.
void keep_busy(Unit unit, std::int64_t rounds) noexcept;

}  // namespace cairn::inline v0::timing
