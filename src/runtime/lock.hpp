#pragma once

#include "program/lock.hpp"
#include "runtime/program_set.hpp"

namespace cairn::runtime {

/// The lock of a set: the calls of all programs, those that verify others among them, where ranges of sizes end, and
/// the cover of each bucket.
program::Lock lock_of(const ProgramSet& set);

}  // namespace cairn::runtime
