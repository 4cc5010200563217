#pragma once

#include "cairn/compile.hpp"

/// What the modes of a compile spend on measuring.
namespace cairn::inline v0::tune {

constexpr double most_seconds = 1e8;  ///< what a clock can add

/// Whether anything is measured.
bool measures(Mode mode);
/// Whether programs are run whole beside their rivals (tune/duels.hpp).
bool runs_programs(Mode mode);
/// The budget given, or that of the mode.
double seconds_of(const CompileOptions& options);

}  // namespace cairn::inline v0::tune
