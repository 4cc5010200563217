#pragma once

#include "program/lock.hpp"
#include "runtime/program_set.hpp"

namespace cairn::runtime {

/// The lock of a set: the calls of all programs, including exact ones, the bounds of the buckets, and the cover of each
/// bucket.
program::Lock lock_of(const ProgramSet& set);

}  // namespace cairn::runtime
