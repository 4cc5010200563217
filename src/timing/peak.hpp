#pragma once

#include "cairn/kernel.hpp"

#include <cstdint>

namespace cairn::inline v0::timing {

/// f32 operations of one round of multiply_add(); a multiplication and an addition count two.
double operations_of_round(Isa level) noexcept;

/// Nothing but independent multiplications and additions on full registers, the same in every kind of build: the most
/// that a level of instructions can do. The CPU must have the level.
void multiply_add(Isa level, std::int64_t rounds) noexcept;

}  // namespace cairn::inline v0::timing
