#pragma once

#include "program/lock.hpp"
#include "runtime/program_set.hpp"

namespace cairn::inline v0::runtime {

/// What all programs of a set call, those that verify others among them, and where their ranges end.
program::Lock lock_of(const ProgramSet& set);

}  // namespace cairn::inline v0::runtime
